import PolyStore
import PolyStoreBackend
import TestSupport
import Testing

/// Full-text searches among pending changes, in monitors and in sequences of values.
@Suite struct SearchChangeTests {
    @Test(arguments: Backend.forObjectLayer) func pendingObjectsMatch(_ backend: Backend) throws {
        let world = try SearchWorld(backend)
        try world.stack.performAndWait { transaction throws in
            func years(_ text: String) throws -> [Int] {
                try transaction.fetchAll(From<Essay>().where { $0.search(text) }.orderBy { $0.year }).map(\.year)
            }
            let made = try transaction.create(Into<Essay>())
            (made.title, made.year) = ("An unsaved fox", 9)
            #expect(try years("fox") == [0, 1, 9])
            #expect(try transaction.fetchCount(From<Essay>().where { $0.search("fox") }) == 3)
            let first = try #require(try transaction.fetchOne(From<Essay>().where(\.year == 0)))
            try transaction.edit(first).body = "Hens only"
            #expect(try years("fox") == [1, 9])
            #expect(try years("hens") == [0])
            let second = try #require(try transaction.fetchOne(From<Essay>().where(\.year == 1)))
            try transaction.delete(second)
            #expect(try years("fox") == [9])
            #expect(try transaction.fetchCount(From<Essay>().where { $0.search("fox") }) == 1)
            #expect(try transaction.fetchAll(From<SearchAuthor>().where("ANY essays SEARCH 'hens'")).map(\.name) == ["Jane Doe"])
            try transaction.edit(made).title = ""
            #expect(try years("unsaved") == [])
        }
        #expect(try world.years(where: Where(search: "fox")) == [])
    }

    /// The documents and frequencies are those of the snapshot, so that an uncommitted object does not change the scores of the others.
    @Test(arguments: Backend.forObjectLayer) func scoresOfPendingObjectsHaveTheStatisticsOfTheStore(_ backend: Backend) throws {
        let world = try SearchWorld(backend)
        try world.stack.performAndWait { transaction throws in
            func scores(_ context: Context) throws -> [QueryRow] {
                let query = From<Essay>().search("fox").select("year", .score("fox")).tweak { $0.includesPendingChanges = true }
                return try context.queryAttributes(query)
            }
            let before = try scores(transaction)
            for number in 0..<5 {
                let made = try transaction.create(Into<Essay>())
                (made.title, made.body, made.year) = ("The lazy dog", "A quick brown fox jumps over the lazy dog.", 10 + number)
            }
            let after = try scores(transaction)
            #expect(after.count == before.count + 5)
            let known = Dictionary(uniqueKeysWithValues: before.map { ($0["year"], $0["score"]) })
            for row in after where known[row["year"]] != nil { #expect(known[row["year"]] == .some(row["score"])) }
            // An object with the texts of another has its score.
            for row in after.suffix(5) { #expect(row["score"] == known[.some(.integer(0))].flatMap { $0 }) }
            #expect(try transaction.fetchAll(From<Essay>().search("fox").limit(3)).map(\.year) == [1, 0, 10])
            let child = transaction.beginUnsafe()
            #expect(try scores(child).map { $0["score"] } == after.map { $0["score"] })
            #expect(try child.fetchAll(From<Essay>().search("fox").limit(3)).map(\.year) == [1, 0, 10])
        }
    }

    @MainActor @Test(arguments: Backend.forObjectLayer) func aMonitorFollowsScoresOfUnchangedObjects(_ backend: Backend) throws {
        let world = try SearchWorld(backend)
        let query = From<Essay>().search("dog OR lazy OR cats")
        let monitor = try world.stack.view.monitorList(query)
        let first = try world.stack.view.monitorList(query.limit(2))
        let plain = try world.stack.view.monitorList(From<Essay>().where { $0.search("dog OR lazy OR cats") }.orderBy { $0.year })
        var orders: Set<[Int]> = []
        for number in 0..<30 {
            try world.stack.performAndWait { transaction throws in
                switch number % 4 {
                case 0, 1:
                    let made = try transaction.create(Into<Essay>())
                    made.title = number % 8 < 4 ? "Cats, cats" : "Something without any of the words, and long"
                    made.body = number % 3 == 0 ? "dog" : nil
                    made.year = 100 + number
                case 2:
                    let last = try transaction.fetchOne(From<Essay>().where(\.year > 50).orderBy(.descending(\.year)))
                    if let last { try transaction.edit(last).body = "lazy \(number)" }
                default:
                    let oldest = try transaction.fetchOne(From<Essay>().where(\.year > 50).orderBy(.ascending(\.year)))
                    if let oldest { try transaction.delete(oldest) }
                }
            }
            let expected = try world.years(query)
            #expect(monitor.map(\.year) == expected)
            #expect(first.map(\.year) == Array(expected.prefix(2)))
            #expect(plain.map(\.year) == expected.sorted())
            orders.insert(expected.filter { $0 < 10 })
        }
        #expect(orders.count > 1, "the order of unchanged objects never differed")
    }

    @Test(arguments: Backend.forObjectLayer) func valuesFollowTheTexts(_ backend: Backend) async throws {
        let world = try SearchWorld(backend)
        var counts = world.stack.values(of: From<Essay>().where { $0.search("fox") }, .count).makeAsyncIterator()
        #expect(try await counts.next() == 2)
        var best = world.stack.values(of: { try $0.fetchAll(From<Essay>().search("fox").limit(1)).map(\.year) }).makeAsyncIterator()
        #expect(try await best.next() == [1])
        try await world.stack.perform { transaction throws in
            let made = try transaction.create(Into<Essay>())
            (made.title, made.year) = ("Fox fox fox", 7)
        }
        #expect(try await counts.next() == 3)
        #expect(try await best.next() == [7])
        try await world.stack.perform { transaction throws in
            if let made = try transaction.fetchOne(From<Essay>().where(\.year == 7)) { try transaction.edit(made).title = "Hens" }
        }
        #expect(try await counts.next() == 2)
        #expect(try await best.next() == [1])
    }

    @Test(arguments: Backend.forObjectLayer) func batchesDeleteAndUpdateWhatASearchFinds(_ backend: Backend) throws {
        let world = try SearchWorld(backend)
        try world.stack.performAndWait { transaction throws in
            #expect(try transaction.batchUpdate(From<Essay>().where { $0.search("fox") }) { $0.set(\.year, to: 50) } == 2)
        }
        #expect(try world.years(where: Where(search: "fox")) == [50, 50])
        try world.stack.performAndWait { transaction throws in try transaction.deleteAll(From<Essay>().where { $0.search("fox") }) }
        #expect(try world.stack.readAndWait { try $0.fetchCount(From<Essay>()) } == 3)
    }
}
