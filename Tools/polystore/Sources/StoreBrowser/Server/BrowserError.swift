/// A request that cannot be answered: the status, and one sentence that says why and what to do.
package struct BrowserError: Error, Sendable {
    /// The status of HTTP.
    let status: Int
    let message: String

    init(_ status: Int, _ message: String) { (self.status, self.message) = (status, message) }

    static let malformedAddress = BrowserError(
        400, "The address contains an escape that is not UTF-8 in hexadecimal digits. Return to the list of entities.")
    static let unknownPage = BrowserError(404, "The browser has no page at this address. Return to the list of entities.")
}
