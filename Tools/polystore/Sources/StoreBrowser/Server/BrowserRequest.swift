import BrowserData
import HTTPTypes
import Hummingbird

/// A request that is answered, with its decoded items.
struct BrowserRequest: Sendable {
    let site: Site
    let path: String
    let query: QueryItems
    /// The items of the form; empty for a request that is not POST.
    var form = QueryItems()
    let request: Request

    /// The greatest number of bytes of a form.
    static let greatestForm = 16 << 20

    /// The address of the same view in another form: "json" or "csv". That of rows has all rows, whatever page is shown.
    func address(format: String) -> String {
        let items = path == "/rows" ? query.without(RowsRequest.positionNames) : query
        return items.address("\(path == "/" ? "/entities" : path).\(format)")
    }

    /// Returns the value of an item.
    /// - Throws: `BrowserError` if it is missing.
    func required(_ name: String) throws -> String {
        guard let value = query[name] else {
            throw BrowserError(400, "The address has no \"\(name)\". Return to the list of entities.")
        }
        return value
    }

    /// Returns the value of an item as a number.
    /// - Throws: `BrowserError` if it is not a whole number.
    func number<T: FixedWidthInteger>(_ name: String) throws -> T? {
        try query[name].map { text in
            guard let number = T(text) else { throw BrowserError(400, "\"\(name)\" is a whole number, not \"\(text)\".") }
            return number
        }
    }

    /// Runs the queries of a request. They end at the deadline, and when the browser closes the connection.
    ///
    /// The connection is not used again, because the server watches it for its end in the meantime.
    func answering(_ body: @escaping @Sendable (BrowserRequest) async throws -> Response) async throws -> Response {
        let base = self
        let deadline = site.options.deadline
        return try await request.body.consumeWithCancellationOnInboundClose { requestBody in
            var response = try await Deadline.run(deadline) {
                var request = base
                if base.request.method == .post { request.form = try await Self.form(requestBody) }
                return try await body(request)
            }
            response.headers[.connection] = "close"
            return response
        }
    }

    private static func form(_ body: RequestBody) async throws -> QueryItems {
        var bytes: [UInt8] = []
        for try await part in body {
            bytes += part.readableBytesView
            if bytes.count > greatestForm {
                throw BrowserError(413, "A form has at most \(greatestForm >> 20) MiB. Use polystore import for larger values.")
            }
        }
        // The body of a cancelled request ends early, and a form that is not whole changes nothing.
        try Task.checkCancellation()
        guard let text = String(validating: bytes, as: UTF8.self) else { throw BrowserError.malformedAddress }
        return try QueryItems(decoding: text)
    }
}
