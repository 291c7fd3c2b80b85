import BrowserData
import Foundation
import PolyStoreBackend
import PolyStoreCore
import StoreBrowser
import StoreTesting
import Testing

/// The events of a page, and the end of work at its deadline.
@Suite struct EventTests {
    @Test(arguments: [
        ("one", "data: one\n"), ("", "data: \n"), ("a\nb\r\nc\rd", "data: a\ndata: b\ndata: c\ndata: d\n"),
        ("a\n\nb\n", "data: a\ndata: \ndata: b\ndata: \n"),
        ("a\u{85}b\u{2028}c\u{2029}d\u{b}e\u{c}f", "data: a\u{85}b\u{2028}c\u{2029}d\u{b}e\u{c}f\n"),
    ])
    func linesOfAnEventEndAtLineFeedsAndCarriageReturnsOnly(_ data: String, _ lines: String) {
        let text = String(decoding: ServerEvent(name: "values", data: data).bytes, as: UTF8.self)
        #expect(Array(text.utf8) == Array("event: values\n\(lines)\n".utf8))
    }

    @Test func pointOfAnEventIsItsIdentifier() {
        let text = String(decoding: ServerEvent(name: "transaction", data: "x", id: "7").bytes, as: UTF8.self)
        #expect(text == "id: 7\nevent: transaction\ndata: x\n\n")
    }

    @Test func workThatSucceedsAfterTheDeadlineIsAnswered() async throws {
        let result = try await Deadline.run(.nanoseconds(1)) {
            // A commit that is under way when the time ends.
            while !Task.isCancelled { await Task.yield() }
            return 7
        }
        #expect(result == 7)
    }

    @Test func workThatTheDeadlineEndsIsAnError() async throws {
        await #expect(throws: BrowserError.self) {
            try await Deadline.run(.nanoseconds(1)) { try await Task.sleep(for: .seconds(3_600)) }
        }
    }

    @Test func readsEndAtTheLimitOfTheStore() async throws {
        let folder = try TemporaryFolder()
        let configuration = try TestStore.engines.configuration(TestStore.make(in: folder, cities: 3))
        let store = try await BrowserStore.open(configuration, timeLimit: .nanoseconds(1), logger: SilentLogger())
        let object = ObjectReference(entity: "Country", rowID: 1)
        let codes = await [
            #expect(throws: StoreError.self) { try await store.wholeValue(of: object, property: "notes") }?.code,
            #expect(throws: StoreError.self) { try await store.form(of: object) }?.code,
        ]
        #expect(codes == [.timedOut, .timedOut])
        try await store.close()
    }

    @Test func connectionThatWasLostContinuesAfterTheLastEvent() async throws {
        let folder = try TemporaryFolder()
        let browser = try await RunningBrowser(TestStore.make(in: folder, cities: 3), forWriting: true)
        let start = try await browser.store.historyPoint()
        for number in 1...3 { try await Self.rename(browser.store, to: "Changed \(number)") }
        let all = try await Self.events(browser, since: start, last: nil, count: 3)
        let identifiers = all.matches(of: /id: (\S+)\n/).map { String($0.1) }
        #expect(Set(identifiers).count == 3)
        let rest = try await Self.events(browser, since: start, last: identifiers[1], count: 1)
        #expect(rest.matches(of: /id: (\S+)\n/).map { String($0.1) } == [identifiers[2]])
        try await browser.stop()
    }

    @Test func everyObjectOfALargeTransactionIsNamed() async throws {
        try await RunningBrowser.run(cities: 150, forWriting: true) { browser in
            let start = try await browser.store.historyPoint()
            try await browser.store.stack.perform { transaction in
                for city in try transaction.fetchAll(EntityQuery("City")) { try city.set("population", to: .integer(1)) }
            }
            let events = try await Self.events(browser, since: start, last: nil, count: 1)
            let data = try #require(events.firstMatch(of: /event: transaction\ndata: (.*)\n/)).1
            let event = try #require(JSONSerialization.jsonObject(with: Data(data.utf8)) as? [String: Any])
            let changes = try #require(event["changes"] as? [[String: String]])
            #expect(Set(changes.map { $0["object"] }) == Set((1...150).map { "City/\($0)" }) && event["count"] as? Int == 150)
            // The page of one object shows its change, wherever the change is in the transaction.
            let own = try await Self.events(browser, since: "\(start)&entity=City&id=150", last: nil, count: 1)
            #expect(own.contains("City 150") && !own.contains("City 149"))
            let none = try await Self.events(browser, since: "\(start)&entity=Country&id=1", last: nil, count: 1)
            #expect(none.contains("\"markup\":null"))
        }
    }

    @Test func commitWithoutAHistoryIsReportedBesideOneWithAHistory() async throws {
        let folder = try TemporaryFolder()
        let configuration = try TestStore.engines.configuration(TestStore.make(in: folder, cities: 1))
        let plain = try BrowserStore(opening: configuration, forWriting: true, logger: SilentLogger())
        let recording = try await BrowserStore.open(configuration, forWriting: true, logger: SilentLogger())
        var changes = try plain.liveChanges(since: await plain.historyPoint()).makeAsyncIterator()
        try await Self.rename(plain, to: "Unrecorded")
        try await Self.rename(recording, to: "Recorded")
        var (unknown, recorded) = (false, false)
        while !(unknown && recorded) {
            switch try await changes.next() {
            case .unknown: unknown = true
            case .transaction: recorded = true
            case .expired, nil:
                Issue.record("The changes ended.")
                return
            }
        }
        try await recording.close()
        try await plain.close()
    }

    private static func rename(_ store: BrowserStore, to name: String) async throws {
        try await store.stack.perform { transaction in
            try transaction.fetchExisting(store.stack.objectID("City", rowID: 1))?.set("name", to: .text(name))
        }
    }

    /// Returns the events until a number of transactions has arrived.
    private static func events(_ browser: RunningBrowser, since: String, last: String?, count: Int) async throws -> String {
        let field = last.map { "Last-Event-ID: \($0)\r\n" } ?? ""
        let fields = "Host: 127.0.0.1:\(browser.port)\r\nCookie: \(browser.cookie)\r\n\(field)"
        let head = "GET /history.events?since=\(since) HTTP/1.1\r\n\(fields)\r\n"
        let port = browser.port
        return try await RunningBrowser.onThread {
            let connection = try HTTPConnection(port: port)
            try connection.send(head)
            return try connection.receive { $0.matches(of: /event: transaction\ndata: .*\n/).count >= count }
        }
    }
}
