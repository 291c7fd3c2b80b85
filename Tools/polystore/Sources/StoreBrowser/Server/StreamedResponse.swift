import Hummingbird

/// Answers that are written while they are read.
enum StreamedResponse {
    /// Returns an answer whose body is written in parts. The work ends when the browser closes the connection.
    static func response(
        _ request: BrowserRequest, contentType: String, headers: HTTPFields = [:],
        _ body: @escaping @Sendable (_ write: (String) async throws -> Void) async throws -> Void
    ) -> Response {
        var headers = headers
        headers[.contentType] = contentType
        headers[.connection] = "close"
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody { writer in
                try await request.request.body.consumeWithCancellationOnInboundClose { _ in
                    try await body { try await writer.write(ByteBuffer(string: $0)) }
                }
                try await writer.finish(nil)
            })
    }

    /// Returns an answer of server-sent events.
    static func events(
        _ request: BrowserRequest, _ body: @escaping @Sendable (_ send: (ServerEvent) async throws -> Void) async throws -> Void
    ) -> Response {
        response(request, contentType: "text/event-stream; charset=utf-8") { write in
            try await body { try await write($0.text) }
        }
    }
}

/// An event that a page receives while it is open.
struct ServerEvent: Sendable {
    let name: String
    /// The data, of any number of lines.
    let data: String

    var text: String {
        let lines = data.split(omittingEmptySubsequences: false) { $0.isNewline }.map { "data: \($0)\n" }.joined()
        return "event: \(name)\n\(lines)\n"
    }
}
