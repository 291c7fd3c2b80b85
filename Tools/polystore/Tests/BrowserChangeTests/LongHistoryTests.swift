import BrowserData
import Foundation
import PolyStore
import PolyStoreBackend
import Testing

/// Histories with large and small transactions, on every engine.
@Suite struct LongHistoryTests {
    @Test(arguments: Engine.available)
    func largeAndSmallTransactionsAreListedTogether(_ engine: Engine) async throws {
        let league = try League(engine, history: HistoryOptions())
        let program = try league.stack(history: HistoryOptions())
        for number in 0..<40 {
            // Every tenth one has more changes than a page describes, and more than are read at a time.
            let count = number % 10 == 4 ? 2_500 : 1
            try await program.perform(sourceIdentifier: "\(number)") { transaction in
                for fan in 0..<count { try transaction.create(Fan.self) { $0.name = "Fan \(number) \(fan)" } }
            }
        }
        try await program.close()
        let browser = try await league.browser()
        for size in [1, 7, 500] {
            var request = HistoryRequest()
            request.size = size
            var all: [HistoryPage.Transaction] = []
            repeat {
                let page = try await browser.history(request)
                #expect(page.transactions.count <= size)
                all += page.transactions
                request.before = page.older
            } while request.before != nil
            #expect(all.map(\.author) == (0..<40).reversed().map { "\($0)" } + ["setup"])
            #expect(all.dropLast().map(\.changeCount) == (0..<40).reversed().map { $0 % 10 == 4 ? 2_500 : 1 })
            #expect(all.allSatisfy { $0.changes.count == min($0.changeCount, HistoryPage.changeLimit) })
        }
        var request = HistoryRequest()
        request.author = "24"
        let found = try await browser.history(request).transactions
        #expect(found.count == 1 && found[0].counts.map(\.count) == [2_500])
        try await browser.close()
    }

    @Test(arguments: Engine.available, [true, false])
    func openingForWritingKeepsWhetherPreviousValuesAreRecorded(_ engine: Engine, _ recordsValues: Bool) async throws {
        let options = HistoryOptions(recordsPreviousValues: recordsValues)
        let league = try League(engine, history: options)
        let program = try league.stack(history: options)
        try await program.perform { try $0.fetchOne(From<Club>().where("name == 'Red'"))?.motto = "Walk" }
        // New objects have no previous values.
        for number in 0..<30 { try await program.perform { _ = try $0.create(Fan.self) { $0.name = "Fan \(number)" } } }
        try await program.close()
        let browser = try await league.browser()
        let red = try await browser.reference("Club", "Red")
        _ = try await browser.commit(ObjectEdit(.update(red), input: FormInput(["motto": .text("Rest")])))
        let change = try #require(try await browser.history().transactions.first?.changes.first)
        #expect(change.previous["motto"]?.text == (recordsValues ? "Walk" : nil))
        try await browser.close()
    }
}
