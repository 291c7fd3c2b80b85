import BrowserData
import Foundation
import PolyStore
import PolyStoreBackend
import Testing

/// The history and the live changes of a store, on every engine.
@Suite struct HistoryTests {
    @Test(arguments: Engine.available)
    func transactionsAreListedNewestFirst(_ engine: Engine) async throws {
        let options = HistoryOptions(recordsPreviousValues: true)
        let league = try League(engine, history: options)
        // The browser records previous values if the history has some.
        let program = try league.stack(history: options)
        try await program.perform(sourceIdentifier: "program") { try $0.fetchOne(From<Club>().where("name == 'Red'"))?.motto = "M0" }
        try await program.close()
        let browser = try await league.browser()
        #expect(browser.recordsHistory)
        let red = try await browser.reference("Club", "Red")
        for number in 1...7 {
            _ = try await browser.commit(ObjectEdit(.update(red), input: FormInput(["motto": .text("M\(number)")])))
        }
        _ = try await browser.commit(ObjectEdit(.delete(browser.reference("Fan", "Fay"))))
        var request = HistoryRequest()
        request.size = 3
        var pages: [HistoryPage] = []
        repeat {
            pages.append(try await browser.history(request))
            request.before = pages.last?.older
        } while request.before != nil
        let all = pages.flatMap(\.transactions)
        #expect(pages.map(\.transactions.count) == [3, 3, 3, 1] && pages.allSatisfy(\.hasHistory))
        #expect(all.map(\.position) == all.map(\.position).sorted(by: >) && Set(all.map(\.position)).count == 10)
        #expect(all.map(\.author) == Array(repeating: BrowserStore.author, count: 8) + ["program", "setup"])
        let deletion = all[0]
        #expect(deletion.counts.map { "\($0.kind) \($0.entity) \($0.count)" } == ["updated Club 1", "deleted Fan 1"])
        let change = try #require(deletion.changes.first { $0.kind == .deleted })
        #expect(change.previous["name"]?.text == "Fay" && change.object.name == nil && change.object.entity == "Fan")
        let update = try #require(all[1].changes.first)
        #expect(update.object.title == "Red" && update.properties == ["motto"] && update.previous["motto"]?.text == "M6")
        #expect(all[9].counts.contains { $0.kind == .inserted && $0.entity == "Keeper" && $0.count == 1 })
        #expect(all[9].changeCount == all[9].counts.reduce(0) { $0 + $1.count })
        try await browser.close()
    }

    @Test(arguments: Engine.available)
    func historyIsFilteredByEntityObjectAndAuthor(_ engine: Engine) async throws {
        let league = try League(engine, history: HistoryOptions())
        let browser = try await league.browser()
        let kim = try await browser.reference("Player", "Kim")
        _ = try await browser.commit(ObjectEdit(.update(kim), input: FormInput(["saves": .text("5")])))
        _ = try await browser.commit(ObjectEdit(.create("Song"), input: FormInput(["title": .text("Four")])))
        func authors(_ change: (inout HistoryRequest) -> Void) async throws -> [String?] {
            var request = HistoryRequest()
            change(&request)
            return try await browser.history(request).transactions.map(\.author)
        }
        #expect(try await authors { $0.entity = "Player" } == [BrowserStore.author, "setup"], "subentities are included")
        #expect(try await authors { $0.entity = "Song" } == [BrowserStore.author, "setup"])
        #expect(try await authors { $0.entity = "Visit" } == ["setup"])
        #expect(try await authors { $0.object = kim } == [BrowserStore.author, "setup"])
        #expect(try await authors { $0.author = "setup" } == ["setup"])
        #expect(try await authors { $0.author = "" } == [])
        var request = HistoryRequest()
        request.object = kim
        let changes = try await browser.history(request).transactions.map(\.changes)
        #expect(changes.map(\.count) == [1, 1] && changes[0][0].properties == ["saves"])
        request.entity = "Nothing"
        await #expect { try await browser.history(request) } throws: { ($0 as? StoreError)?.code == .storeNotFound }
        try await browser.close()
    }

    @Test(arguments: Engine.available)
    func storesWithoutHistoryHaveNone(_ engine: Engine) async throws {
        let league = try League(engine)
        let browser = try await league.browser()
        #expect(!browser.recordsHistory)
        let page = try await browser.history()
        #expect(page.transactions.isEmpty && page.older == nil && !page.hasHistory)
        var request = HistoryRequest()
        request.before = .min
        #expect(try await browser.history(request).transactions.isEmpty)
        try await browser.close()
    }

    @Test(arguments: Engine.available)
    func prunedHistoryEndsAtItsOldestEntry(_ engine: Engine) async throws {
        let league = try League(engine, history: HistoryOptions())
        let browser = try await league.browser()
        let red = try await browser.reference("Club", "Red")
        let start = try await browser.history().token
        for number in 1...300 {
            _ = try await browser.stack.perform { transaction in
                try transaction.edit(browser.stack.objectID("Club", rowID: red.rowID)).set("motto", to: .text("M\(number)"))
            }
        }
        var request = HistoryRequest()
        request.size = 299
        let page = try await browser.history(request)
        #expect(page.transactions.count == 299 && page.older != nil)
        try await browser.stack.deleteHistory(before: browser.stack.history(limit: 10).token)
        request.before = page.older
        #expect(try await browser.history(request).transactions.isEmpty, "these were deleted")
        request.before = nil
        let pruned = try await browser.history(request)
        #expect(pruned.transactions.count == 291 && pruned.older == nil)
        request.before = .min
        #expect(try await browser.history(request).transactions.isEmpty)
        request.before = .max
        #expect(try await browser.history(request).transactions.count == 291)
        // A sequence from a point that was deleted begins again.
        var changes = try browser.liveChanges(since: start).makeAsyncIterator()
        let first = try await changes.next()
        if case .expired? = first {} else { Issue.record("\(String(describing: first))") }
        try await browser.stack.deleteHistory(before: browser.stack.historyToken())
        #expect(try await browser.history().hasHistory == false)
        try await browser.close()
    }

    // MARK: Live changes

    @Test(arguments: Engine.available)
    func commitsOfOthersArriveWithTheirObjects(_ engine: Engine) async throws {
        let league = try League(engine, history: HistoryOptions())
        let browser = try await league.browser()
        let red = try await browser.reference("Club", "Red")
        let start = try await browser.history().token
        var iterator = try browser.liveChanges(since: start).makeAsyncIterator()
        try await league.changeElsewhere(browser, history: HistoryOptions(), author: "other") { transaction in
            try transaction.fetchOne(EntityQuery("Club").where("name == 'Red'"))?.set("motto", to: "Walk")
        }
        guard case .transaction(let live, let token)? = try await iterator.next(), let transaction = live.selected else {
            Issue.record("not a transaction")
            return
        }
        #expect(transaction.author == "other" && transaction.changes.map(\.object.reference) == [red])
        #expect(transaction.changes.map(\.properties) == [["motto"]])
        _ = try await browser.commit(ObjectEdit(.create("Fan"), input: FormInput(["name": .text("Fox")])))
        guard case .transaction(let next, _)? = try await iterator.next(), let own = next.selected else {
            Issue.record("not a transaction")
            return
        }
        #expect(own.author == BrowserStore.author && own.counts.map(\.entity) == ["Fan"])
        // The token of a change continues after it.
        var second = try browser.liveChanges(since: token).makeAsyncIterator()
        if case .transaction(let again, _)? = try await second.next() {
            #expect(again.selected?.position == own.position)
        } else {
            Issue.record("none")
        }
        #expect(throws: StoreError.self) { try browser.liveChanges(since: "no token") }
        try await browser.close()
    }

    @Test(arguments: Engine.available)
    func largeTransactionNamesAllObjectsAndIsSelectedByEachOfThem(_ engine: Engine) async throws {
        let league = try League(engine, history: HistoryOptions())
        let browser = try await league.browser()
        let start = try await browser.historyPoint()
        let count = HistoryPage.changeLimit + 50
        try await league.changeElsewhere(browser, history: HistoryOptions(), author: "other") { transaction in
            for number in 0..<count { _ = try transaction.create("Song", ["title": .text("Song \(number)")]) }
        }
        let last = try await browser.reference("Song", "Song \(count - 1)")
        let before = try await browser.reference("Song", "One")
        func changes(_ change: (inout HistoryRequest) -> Void) async throws -> LiveTransaction? {
            var request = HistoryRequest()
            change(&request)
            var iterator = try browser.liveChanges(since: start, for: request).makeAsyncIterator()
            if case .transaction(let transaction, _)? = try await iterator.next() { return transaction }
            return nil
        }
        let all = try #require(try await changes { _ in })
        #expect(all.changeCount == count && all.objects.count == count && all.objects.allSatisfy { $0.kind == .inserted })
        #expect(all.objects.contains { $0.reference == last })
        #expect(all.selected?.changeCount == count && all.selected?.changes.count == HistoryPage.changeLimit)
        let own = try #require(try await changes { $0.object = last })
        #expect(own.selected?.changes.map(\.object.reference) == [last] && own.objects.count == count)
        #expect(try await changes { $0.object = before }?.selected == nil)
        #expect(try await changes { $0.entity = "Song" }?.selected?.changeCount == count)
        #expect(try await changes { $0.entity = "Club" }?.selected == nil)
        #expect(try await changes { $0.author = "else" }?.selected == nil)
        await #expect(throws: StoreError.self) { try await changes { $0.entity = "Nothing" } }
        try await browser.close()
    }

    @Test(arguments: Engine.available)
    func commitsWithoutHistoryAreReportedAsUnknown(_ engine: Engine) async throws {
        let league = try League(engine)
        let browser = try await league.browser()
        let next = Task {
            var iterator = try browser.liveChanges().makeAsyncIterator()
            return try await iterator.next()
        }
        // A commit before the sequence has begun is not one that it reports, so there are several.
        let commits = Task {
            var number = 0
            while !Task.isCancelled {
                number += 1
                let name = "N\(number)"
                try await league.changeElsewhere(browser) { _ = try $0.create("Fan", ["name": .text(name)]) }
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        let outcome = try await next.value
        commits.cancel()
        _ = await commits.result
        if case .unknown? = outcome {} else { Issue.record("\(String(describing: outcome))") }
        try await browser.close()
    }

    @Test(arguments: Engine.available)
    func sequenceEndsWithItsTask(_ engine: Engine) async throws {
        let league = try League(engine, history: HistoryOptions())
        let browser = try await league.browser()
        let task = Task {
            var count = 0
            for try await _ in try browser.liveChanges() { count += 1 }
            return count
        }
        task.cancel()
        #expect(try await task.value == 0)
        try await browser.close()
    }
}
