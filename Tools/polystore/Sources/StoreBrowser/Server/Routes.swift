import Hummingbird

/// What answers the requests of one path.
struct Route: Sendable {
    /// Whether the answer is a page, which the address with the token can lead to.
    let isPage: Bool
    let answer: @Sendable (BrowserRequest) async throws -> Response
    /// Answers a form that was sent to the path; nil if it takes none.
    var change: (@Sendable (BrowserRequest) async throws -> Response)?

    /// A page whose queries end with the request.
    static func page(
        _ answer: @escaping @Sendable (BrowserRequest) async throws -> Response,
        change: (@Sendable (BrowserRequest) async throws -> Response)? = nil
    ) -> Route {
        Route(isPage: true, answer: { request in try await request.answering(answer) }, change: change)
    }

    /// Data whose queries end with the request.
    static func data(_ answer: @escaping @Sendable (BrowserRequest) async throws -> Response) -> Route {
        Route(isPage: false, answer: { request in try await request.answering(answer) })
    }

    /// An answer that is written while it is read, and ends when the browser closes the connection.
    static func stream(_ answer: @escaping @Sendable (BrowserRequest) async throws -> Response) -> Route {
        Route(isPage: false, answer: answer)
    }
}
