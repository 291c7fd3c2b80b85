import BrowserData
import Foundation
import StoreTesting
import Testing

/// The pages that change a store.
@Suite struct ChangePageTests {
    /// Returns the hidden inputs of a page as a form.
    private static func hidden(_ page: String) -> [(String, String)] {
        page.matches(of: /<input type="hidden" name="([^"]*)" value="([^"]*)">/).map { (decoded($0.1), decoded($0.2)) }
    }

    private static func decoded(_ text: Substring) -> String {
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")].reduce(String(text)) {
            $0.replacingOccurrences(of: $1.0, with: $1.1)
        }
    }

    private static func body(_ items: [(String, String)]) -> String {
        items.map { name, value in
            [name, value].map { $0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "" }.joined(separator: "=")
        }.joined(separator: "&")
    }

    @Test func changeIsShownBeforeItIsCommitted() async throws {
        try await RunningBrowser.run(cities: 2, forWriting: true) { browser in
            let target = "/edit?entity=City&id=1"
            let form = try await browser.page(target)
            let entries = Self.hidden(form) + [("value:name", "Renamed & <b>"), ("step", "preview")]
            let preview = try await browser.request("POST", target, body: Self.body(entries))
            #expect(preview.status == 200)
            #expect(preview.text.contains("City 1") && preview.text.contains("Renamed &amp; &lt;b&gt;"))
            #expect(try await browser.page("/object?entity=City&id=1").contains("<h1 dir=\"auto\">City 1</h1>"))
            let commit = try await browser.request("POST", target, body: Self.body(Self.hidden(preview.text) + [("step", "commit")]))
            #expect(commit.status == 303, "\(commit.text)")
            let location = try #require(commit.headers["location"])
            #expect(try await browser.page(location).contains("Renamed &amp; &lt;b&gt;"))
        }
    }

    @Test func entriesAreKeptExactlyFromTheFormToTheCommit() async throws {
        try await RunningBrowser.run(cities: 2, forWriting: true) { browser in
            let target = "/edit?entity=City&id=2"
            let name = "\u{200f}\u{202e}ab\u{301}\"'<&>\u{7f}\n\n c{{1}} \u{2028}"
            let form = try await browser.page(target)
            let entries = Self.hidden(form) + [("value:name", name), ("step", "preview")]
            let preview = try await browser.request("POST", target, body: Self.body(entries))
            let back = try await browser.request("POST", target, body: Self.body(Self.hidden(preview.text) + [("step", "form")]))
            #expect(back.status == 200 && back.text.contains("\u{202e}a"))
            let commit = try await browser.request("POST", target, body: Self.body(Self.hidden(preview.text) + [("step", "commit")]))
            #expect(commit.status == 303, "\(commit.text)")
            let value = try await browser.request("GET", "/value?entity=City&id=2&property=name")
            #expect(value.text.unicodeScalars.elementsEqual(name.unicodeScalars))
        }
    }

    @Test func objectThatChangedMeanwhileIsNotOverwritten() async throws {
        try await RunningBrowser.run(cities: 2, forWriting: true) { browser in
            let target = "/edit?entity=City&id=1"
            let form = try await browser.page(target)
            let preview = try await browser.request(
                "POST", target, body: Self.body(Self.hidden(form) + [("value:name", "mine"), ("step", "preview")]))
            try await browser.store.stack.perform { transaction in
                let id = try browser.store.stack.objectID("City", rowID: 1)
                try transaction.fetchExisting(id)?.set("name", to: "theirs")
            }
            let commit = try await browser.request("POST", target, body: Self.body(Self.hidden(preview.text) + [("step", "commit")]))
            #expect(commit.status == 409)
            #expect(commit.text.contains("theirs") && commit.text.contains("mine"))
            #expect(try await browser.page("/object?entity=City&id=1").contains("theirs"))
        }
    }

    @Test func entryThatIsNoValueIsNamed() async throws {
        try await RunningBrowser.run(cities: 2, forWriting: true) { browser in
            let target = "/edit?entity=City&id=1"
            let form = try await browser.page(target)
            let answer = try await browser.request(
                "POST", target, body: Self.body(Self.hidden(form) + [("value:population", "many"), ("step", "preview")]))
            #expect(answer.status == 400)
            #expect(answer.text.contains("role=\"alert\"") && answer.text.contains("value=\"many\""))
        }
    }

    @Test func objectIsCreatedAndDeleted() async throws {
        try await RunningBrowser.run(cities: 2, forWriting: true) { browser in
            let form = try await browser.page("/create?entity=City")
            let preview = try await browser.request(
                "POST", "/create?entity=City", body: Self.body(Self.hidden(form) + [("value:name", "New"), ("step", "preview")]))
            let commit = try await browser.request(
                "POST", "/create?entity=City", body: Self.body(Self.hidden(preview.text) + [("step", "commit")]))
            let location = try #require(commit.headers["location"], "\(commit.text)")
            #expect(try await browser.page(location).contains("New"))
            let target = location.replacingOccurrences(of: "/object", with: "/delete")
            let deletion = try await browser.page(target)
            #expect(deletion.contains("deleted") && deletion.contains("New"))
            let end = try await browser.request("POST", target, body: Self.body(Self.hidden(deletion) + [("step", "commit")]))
            #expect(end.status == 303)
            #expect(try await browser.request("GET", location).status == 404)
        }
    }

    @Test func commitWithoutAConfirmationIsRefused() async throws {
        try await RunningBrowser.run(cities: 2, forWriting: true) { browser in
            let form = try await browser.page("/edit?entity=City&id=1")
            let answer = try await browser.request(
                "POST", "/edit?entity=City&id=1", body: Self.body(Self.hidden(form) + [("value:name", "x"), ("step", "commit")]))
            #expect(answer.status == 400)
            #expect(try await browser.page("/object?entity=City&id=1").contains("City 1"))
        }
    }

    @Test func readOnlyStoreHasNoFormsAndNoLinksToThem() async throws {
        let folder = try TemporaryFolder()
        let browser = try await RunningBrowser(TestStore.make(in: folder, cities: 1))
        for target in ["/edit?entity=City&id=1", "/create?entity=City", "/delete?entity=City&id=1"] {
            #expect(try await browser.request("GET", target).status == 403)
        }
        #expect(try await !browser.page("/object?entity=City&id=1").contains("/edit?"))
        try await browser.stop()
    }
}
