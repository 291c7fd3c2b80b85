import HTTPTypes
import Hummingbird

/// Answers that are written while they are read.
enum StreamedResponse {
    /// Returns an answer whose body is written in parts. The work ends when the browser closes the connection.
    static func bytes(
        _ request: BrowserRequest, contentType: String,
        _ body: @escaping @Sendable (_ write: ([UInt8]) async throws -> Void) async throws -> Void
    ) -> Response {
        Response(
            status: .ok, headers: [.contentType: contentType, .connection: "close"],
            body: ResponseBody { writer in
                try await request.request.body.consumeWithCancellationOnInboundClose { _ in
                    try await body { try await writer.write(ByteBuffer(bytes: $0)) }
                }
                try await writer.finish(nil)
            })
    }

    /// Returns an answer of server-sent events.
    static func events(
        _ request: BrowserRequest, _ body: @escaping @Sendable (_ send: (ServerEvent) async throws -> Void) async throws -> Void
    ) -> Response {
        bytes(request, contentType: "text/event-stream; charset=utf-8") { write in
            // The browser knows that the events are followed before the first one.
            try await write(Array(": following\n\n".utf8))
            try await body { try await write(Array($0.text.utf8)) }
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
