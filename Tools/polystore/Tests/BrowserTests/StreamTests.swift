import BrowserData
import Foundation
import StoreBrowser
import Testing

/// Answers that are written while they are read, and what ends them.
@Suite struct StreamTests {
    private static func head(_ browser: RunningBrowser, _ target: String) -> String {
        "GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(browser.port)\r\nCookie: \(browser.cookie)\r\n\r\n"
    }

    @Test func transactionsArriveWhileAPageIsOpen() async throws {
        try await RunningBrowser.run(cities: 2, forWriting: true) { browser in
            let page = try await browser.page("/rows?entity=City")
            let live = try #require(page.firstMatch(of: /data-live="([^"]*)"/)).1.replacingOccurrences(of: "&amp;", with: "&")
            let head = Self.head(browser, live)
            let port = browser.port
            let connection = try await RunningBrowser.onThread {
                let connection = try HTTPConnection(port: port)
                try connection.send(head)
                _ = try connection.receive { $0.contains(": following") }
                return connection
            }
            try await browser.store.stack.perform { transaction in
                let id = try browser.store.stack.objectID("City", rowID: 1)
                try transaction.fetchExisting(id)?.set("name", to: .text(TestStore.hostile))
            }
            let text = try await RunningBrowser.onThread {
                try connection.receive { $0.contains("event: transaction") && $0.contains("City/1") }
            }
            #expect(!text.contains("<script>alert"))
        }
    }

    @Test func eventsEndWithTheConnectionAndTheServer() async throws {
        try await RunningBrowser.run(cities: 2) { browser in
            let (head, port) = (Self.head(browser, "/history.events"), browser.port)
            for _ in 0..<3 {
                try await RunningBrowser.onThread {
                    let connection = try HTTPConnection(port: port)
                    try connection.send(head)
                    _ = try connection.receive { $0.contains(": following") }
                }
            }
            // Those that were closed do not hold the store, and one that is open does not hold the server.
            let open = try await RunningBrowser.onThread {
                let connection = try HTTPConnection(port: port)
                try connection.send(head)
                _ = try connection.receive { $0.contains(": following") }
                return connection
            }
            try await browser.stop()
            let rest = try await RunningBrowser.onThread { try open.receive() }
            #expect(rest.isEmpty || String(decoding: rest, as: UTF8.self).hasSuffix("0\r\n\r\n"))
        }
    }

    @Test func eventsAreFollowedByCommentsWhileNothingHappens() async throws {
        let hasten: (inout BrowserOptions) -> Void = { $0.heartbeat = .milliseconds(5) }
        try await RunningBrowser.run(cities: 2, change: hasten) { browser in
            let (head, port) = (Self.head(browser, "/history.events"), browser.port)
            try await RunningBrowser.onThread {
                let connection = try HTTPConnection(port: port)
                try connection.send(head)
                _ = try connection.receive { $0.ranges(of: ":\n\n").count >= 3 }
            }
            // The end of a connection ends its comments.
            #expect(try await browser.page("/").contains("City"))
        }
    }

    @Test func largeValueArrivesWhole() async throws {
        try await RunningBrowser.run(cities: 2, forWriting: true) { browser in
            let data = (0..<150).reduce(TestStore.png) { $0 + Data(repeating: UInt8($1), count: 60_000) }
            try await browser.store.stack.perform { transaction in
                let id = try browser.store.stack.objectID("Country", rowID: 1)
                try transaction.fetchExisting(id)?.set("flag", to: .data(data))
            }
            let answer = try await browser.request("GET", "/value?entity=Country&id=1&property=flag")
            #expect(answer.status == 200)
            #expect(answer.body == data)
            let page = try await browser.page("/object?entity=Country&id=1")
            #expect(!page.contains("<img") && page.contains("Open the bytes"))
        }
    }

    @Test func rowsThatAreNotReadAnyLongerEndTheirQuery() async throws {
        try await RunningBrowser.run(cities: 20_000) { browser in
            let (head, port) = (Self.head(browser, "/rows.json?entity=City"), browser.port)
            for _ in 0..<3 {
                try await RunningBrowser.onThread {
                    let connection = try HTTPConnection(port: port)
                    try connection.send(head)
                    _ = try connection.receive { $0.contains("City 1") }
                }
            }
            #expect(try await browser.page("/").contains("20000"))
        }
    }

    @Test func facetWithoutAnIndexIsCountedWhileThePageIsOpen() async throws {
        try await RunningBrowser.run(cities: 50) { browser in
            let page = try await browser.page("/rows?entity=City&facet=population")
            let address = try #require(page.firstMatch(of: /data-events="([^"]*)"/)).1.replacingOccurrences(of: "&amp;", with: "&")
            let events = try await browser.request("GET", address)
            #expect(events.headers["content-type"]?.hasPrefix("text/event-stream") == true)
            #expect(events.text.contains("event: values") && events.text.contains("event: ended\ndata: 50 objects counted."))
            let whole = try await browser.page("/rows?entity=City&facet=population&count=all")
            #expect(!whole.contains("data-events"))
        }
    }

    @Test func queryEndsAtTheDeadline() async throws {
        let shorten: (inout BrowserOptions) -> Void = { $0.deadline = .nanoseconds(1) }
        try await RunningBrowser.run(cities: 2_000, change: shorten) { browser in
            let answer = try await browser.request("GET", "/rows?entity=City")
            #expect(answer.status == 503)
            #expect(answer.text.contains("--timeout"))
        }
    }

    @Test func severalRequestsOfOneConnectionAreAnswered() async throws {
        try await RunningBrowser.run(cities: 2) { browser in
            let (head, port) = (Self.head(browser, "/assets/icon.svg"), browser.port)
            let text = try await RunningBrowser.onThread {
                let connection = try HTTPConnection(port: port)
                try connection.send(head)
                _ = try connection.receive { $0.contains("</svg>") }
                try connection.send(head)
                return try connection.receive { $0.contains("</svg>") }
            }
            #expect(text.hasPrefix("HTTP/1.1 200"))
        }
    }
}
