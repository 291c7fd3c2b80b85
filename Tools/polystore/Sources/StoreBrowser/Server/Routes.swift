import Hummingbird

/// The handlers of the requests of one path.
struct Route: Sendable {
    /// Whether the answer is a page, which the address with the token can lead to.
    let isPage: Bool
    let answer: @Sendable (BrowserRequest) async throws -> Response
    /// Answers a form that was sent to the path; nil if it takes none.
    var change: (@Sendable (BrowserRequest) async throws -> Response)?

    init(
        isPage: Bool, answer: @escaping @Sendable (BrowserRequest) async throws -> Response,
        change: (@Sendable (BrowserRequest) async throws -> Response)? = nil
    ) {
        self.isPage = isPage
        self.answer = answer
        self.change = change
    }

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

    /// A file of the browser, which needs no query.
    static func file(_ bytes: [UInt8], _ type: String) -> Route {
        Route(isPage: false, answer: { _ in DataResponse.bytes(bytes, type) })
    }
}

/// The answers by path.
enum Routes {
    static let all: [String: Route] = [
        "/": EntitiesPage.route, "/entities.json": EntitiesPage.json,
        "/rows": RowsView.route, "/rows.json": RowsData.rows(.json), "/rows.jsonl": RowsData.rows(.jsonl), "/rows.csv": RowsData.rows(.csv),
        "/facet.events": FacetPane.events, "/complete.json": CompletionData.route,
        "/object": ObjectView.route, "/object.json": RowsData.object(.json), "/object.csv": RowsData.object(.csv),
        "/value": ValueFile.route,
        "/groups": GroupsView.route, "/groups.json": GroupsData.json, "/groups.csv": GroupsData.csv,
        "/history": HistoryView.route, "/history.json": HistoryView.json, "/history.events": HistoryView.events,
        "/edit": EditView.edit, "/create": EditView.create, "/delete": EditView.delete,
        "/assets/browser.css": AssetFiles.styleSheet, "/assets/browser.js": AssetFiles.script, "/assets/icon.svg": AssetFiles.icon,
    ]
}
