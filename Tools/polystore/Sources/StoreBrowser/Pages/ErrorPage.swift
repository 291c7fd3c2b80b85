import BrowserData
import HTTPTypes
import Hummingbird
import PolyStoreBackend

/// The page of a request that failed.
enum ErrorPage {
    /// Returns the answer to a request that failed after the guard had permitted it. Its frame shows the name of the store.
    static func response(to error: any Error, _ site: Site) -> Response {
        let (status, message) = described(error)
        guard status != 403 else { return text(message, status) }
        var frame = Page.frame(site, title: "Error", template: "error")
        frame["content"] = site.templates.render("error", ["message": message])
        return Page.response(site.templates.render("layout", frame), status: .init(code: status))
    }

    /// Returns an answer that is one sentence of plain text.
    static func text(_ message: String, _ status: Int) -> Response {
        Response(
            status: .init(code: status), headers: [.contentType: "text/plain; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: message + "\n")))
    }

    private static func described(_ error: any Error) -> (Int, String) {
        switch error {
        case let error as BrowserError: (error.status, error.message)
        case let error as FilterMistake: (400, error.message)
        case let error as StoreError where [.cancelled, .timedOut].contains(error.code):
            (503, "The query was ended before it was complete. Use a condition that an index answers, or a longer --timeout.")
        case let error as StoreError where error.code == .invalidPredicate: (400, error.message)
        case let error as StoreError: (notFound.contains(error.code) ? 404 : 500, error.message)
        case is CancellationError: (503, "The query was ended before it was complete.")
        default: (500, "\(error)")
        }
    }

    private static let notFound: Set<StoreError.Code> = [.storeNotFound, .notFound, .misuse]
}
