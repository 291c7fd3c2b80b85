import Foundation
import StoreBrowser
import StoreTesting
import Testing

extension RunningBrowser {
    /// Calls a function with a browser of the test store, and stops the browser.
    static func run(
        cities: Int = 120, forWriting isWritable: Bool = false, change: (inout BrowserOptions) -> Void = { _ in },
        _ body: (RunningBrowser) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let browser = try await RunningBrowser(TestStore.make(in: folder, cities: cities), forWriting: isWritable, change: change)
        do { try await body(browser) } catch {
            try await browser.stop()
            throw error
        }
        try await browser.stop()
    }
}

/// Parts of the text of pages and addresses.
enum PageText {
    static func encoded(_ text: String) -> String { text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "" }

    /// Returns the address of the first link whose tag or text contains a pattern.
    static func link(_ page: String, _ pattern: String) throws -> String {
        let pattern = try Regex("<a [^>]*href=\"([^\"]*)\"[^>]*\(pattern)")
        let match = try #require(page.firstMatch(of: pattern), "No link with \(pattern).")
        return String(match[1].substring ?? "").replacingOccurrences(of: "&amp;", with: "&")
    }
}
