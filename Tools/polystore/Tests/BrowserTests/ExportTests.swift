import Foundation
import PolyStoreCore
import StoreBrowser
import Testing

/// Views as JSON and CSV.
@Suite struct ExportTests {
    private static func lines(_ answer: HTTPConnection.Answer) -> [Substring] { answer.text.split(whereSeparator: \.isNewline) }

    @Test func everyPageLeadsToAllRows() async throws {
        try await RunningBrowser.run { browser in
            let first = try await browser.page("/rows?entity=City&size=50&order=population&column=name")
            let second = try await browser.page(PageText.link(first, "rel=\"next\""))
            let last = try await browser.page(PageText.link(first, "rel=\"last\""))
            let previous = try await browser.page(PageText.link(last, "rel=\"prev\""))
            for page in [first, second, last, previous] {
                let csv = try await browser.request("GET", PageText.link(page, "data-format=\"csv\""))
                #expect(Self.lines(csv).count == 121 && Self.lines(csv)[1].hasSuffix("City 1"))
                let json = try await browser.request("GET", PageText.link(page, "data-format=\"json\""))
                let rows = try #require(JSONSerialization.jsonObject(with: json.body) as? [[String: Any]])
                #expect(rows.map { $0["name"] as? String } == (1...120).map { "City \($0)" })
            }
            // An address with a page has all rows too.
            for position in ["page=last", "after=50.aTUwMDAw", "before=50.aTUwMDAw"] {
                let csv = try await browser.request("GET", "/rows.csv?entity=City&order=population&\(position)")
                #expect(csv.status == 200 && Self.lines(csv).count == 121, "\(position)")
            }
        }
    }

    @Test func historyAsJSONHasTheTransactionsOfItsPage() async throws {
        try await RunningBrowser.run(cities: 1, forWriting: true) { browser in
            for number in 0..<3 {
                try await browser.store.stack.perform { _ = try $0.create("Person", ["name": .text("\(number)")]) }
            }
            let first = try await browser.page("/history?size=2")
            let older = try await browser.page(PageText.link(first, "rel=\"next\""))
            let json = try await browser.request("GET", PageText.link(older, "data-format=\"json\""))
            let history = try #require(JSONSerialization.jsonObject(with: json.body) as? [String: Any])
            #expect((history["transactions"] as? [Any])?.count == 2 && history["older"] is NSNull)
        }
    }

    @Test func groupsAreExportedWholeWithTheRowsIDsOfObjects() async throws {
        try await RunningBrowser.run(cities: 260) { browser in
            let page = try await browser.page("/groups?entity=City&by=population&chart=none")
            #expect(page.contains("There are more groups than these 200."))
            let csv = try await browser.request("GET", PageText.link(page, "data-format=\"csv\""))
            #expect(Self.lines(csv).count == 261 && csv.headers["content-type"]?.hasPrefix("text/csv") == true)
            let json = try await browser.request("GET", "/groups.json?entity=City&by=country&size=1")
            let groups = try #require(JSONSerialization.jsonObject(with: json.body) as? [[String: Int]])
            #expect(groups == [["country": 1, "count": 260]])
            let notes = try await browser.request("GET", "/groups.csv?entity=Country&by=notes")
            #expect(notes.text.contains(String(repeating: "long ", count: 400)))
            let refused = try await browser.request("GET", "/groups.csv?entity=City&by=none")
            #expect(refused.status == 400 && refused.text.contains("none"))
        }
    }

    @Test(arguments: [
        "order=none", "column=none", "column=", "column=name&column=name%20%20%3E", "search=x", "filter=population%20%3E%3E%201",
    ])
    func mistakeInAnExportIsAnsweredWithItsStatus(_ item: String) async throws {
        try await RunningBrowser.run(cities: 2) { browser in
            for format in ["json", "jsonl", "csv"] {
                let answer = try await browser.request("GET", "/rows.\(format)?entity=City&\(item)")
                // An empty item is none.
                #expect(answer.status == (item == "column=" ? 200 : 400), "\(format) \(answer.text.prefix(300))")
            }
        }
    }

    @Test func exportThatEndsAtTheDeadlineIsAnsweredWithItsStatus() async throws {
        let shorten: (inout BrowserOptions) -> Void = { $0.deadline = .nanoseconds(1) }
        try await RunningBrowser.run(cities: 2_000, change: shorten) { browser in
            let answer = try await browser.request("GET", "/rows.csv?entity=City")
            #expect(answer.status == 503)
        }
    }

    @Test func exportOfNoRowsIsWhole() async throws {
        try await RunningBrowser.run(cities: 2) { browser in
            let filter = PageText.encoded("name == 'nobody'")
            let json = try await browser.request("GET", "/rows.json?entity=City&filter=\(filter)")
            let rows = try #require(JSONSerialization.jsonObject(with: json.body) as? [Any])
            #expect(json.status == 200 && rows.isEmpty)
            let csv = try await browser.request("GET", "/rows.csv?entity=City&filter=\(filter)&column=name")
            #expect(Self.lines(csv) == ["_entity,_id,name"])
        }
    }
}
