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

    /// Returns an answer of server-sent events. A comment is sent from time to time, so that a connection that was lost is noticed.
    static func events(
        _ request: BrowserRequest, _ body: @escaping @Sendable (_ send: (ServerEvent) async throws -> Void) async throws -> Void
    ) -> Response {
        bytes(request, contentType: "text/event-stream; charset=utf-8") { write in
            // The browser knows that the events are followed before the first one.
            try await write(Array(": following\n\n".utf8))
            let parts = EventParts()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    defer { parts.finish() }
                    try await body { try await parts.send($0.bytes) }
                }
                let pause = request.site.options.heartbeat
                group.addTask { while (try? await Task.sleep(for: pause)) != nil { try? await parts.send(Array(":\n\n".utf8)) } }
                defer { group.cancelAll() }
                try await parts.receive(write)
                // The comments end only when they are cancelled, so that this is the end of the events.
                try await group.next()
            }
        }
    }
}

/// An event that a page receives while it is open.
package struct ServerEvent: Sendable {
    let name: String
    /// The data, of any number of lines. Only line feeds and carriage returns separate lines.
    let data: String
    /// The point from which a browser that lost the connection continues; nil if the event has none.
    let id: String?

    package init(name: String, data: String, id: String? = nil) { (self.name, self.data, self.id) = (name, data, id) }

    /// The event as it is sent.
    package var bytes: [UInt8] {
        var result = Array((id.map { "id: \($0)\n" } ?? "").utf8) + Array("event: \(name)\ndata: ".utf8)
        var previous: UInt8 = 0
        for byte in data.utf8 {
            switch byte {
            case 0x0a where previous == 0x0d: break
            case 0x0a, 0x0d: result += Array("\ndata: ".utf8)
            default: result.append(byte)
            }
            previous = byte
        }
        return result + Array("\n\n".utf8)
    }
}
