import PolyStore
import PolyStoreBackend
import TestSupport
import Testing

/// Fetches in the order of scores, in windows, in batches and in sections, with many equal scores.
@Suite struct SearchOrderTests {
    /// Returns a text with a word up to three times, in one of two lengths. Many essays share each of the eight scores.
    private static func title(_ number: Int) -> String {
        let words = Array(repeating: "fox", count: number % 4) + Array(repeating: "hen", count: number % 7 == 0 ? 9 : 3)
        return words.joined(separator: " ")
    }

    /// Essays whose year is the position of their section and whose notes have numbers, in the order of their creation.
    private static func world(_ backend: Backend, count: Int) throws -> SearchWorld {
        let world = try SearchWorld(backend)
        try world.stack.performAndWait { transaction throws in
            try transaction.deleteAll(From<Essay>())
            for number in 0..<count {
                let made = try transaction.create(Into<Essay>())
                (made.title, made.year, made.note) = (title(number), number % 5, "\(number)")
            }
        }
        return world
    }

    /// The ids of all essays that match, best first, ascending among equal scores, computed from the scores of all essays.
    private static func expected(_ context: Context, ascending: Bool = false) throws -> [ObjectID<Essay>] {
        let ids = try context.fetchObjectIDs(From<Essay>().where(Where(search: "fox")))
        let scores = try context.queryRows(From<Essay>().where(Where(search: "fox")).select { $0.searchScore("fox") })
        #expect(ids.count == scores.count && Set(scores).count < ids.count / 4)
        return zip(ids, scores).enumerated().sorted { left, right in
            let (first, second) = (left.element.1, right.element.1)
            return first != second ? (first > second) != ascending : left.offset < right.offset
        }.map(\.element.0)
    }

    @Test(arguments: Backend.allCases) func windowsArePartsOfTheWholeOrder(_ backend: Backend) throws {
        let world = try Self.world(backend, count: 300)
        try world.stack.readAndWait { context throws in
            for ascending in [false, true] {
                let all = try Self.expected(context, ascending: ascending)
                let query = From<Essay>().where(Where(search: "fox")).orderBy(.score("fox", ascending: ascending))
                #expect(try context.fetchObjectIDs(query) == all)
                for (offset, limit) in [
                    (0, 1), (0, 10), (7, 10), (100, 50), (all.count - 3, 10), (all.count, 5), (all.count + 9, 1), (3, 0),
                ] {
                    let window = Array(all.dropFirst(offset).prefix(limit))
                    #expect(try context.fetchObjectIDs(query.offset(offset).limit(limit)) == window, "\(offset), \(limit)")
                    #expect(try context.fetchAll(query.offset(offset).limit(limit)).map(\.objectID) == window, "\(offset), \(limit)")
                }
                #expect(try context.fetchObjectIDs(query.offset(40)) == Array(all.dropFirst(40)))
            }
        }
    }

    @Test(arguments: Backend.allCases) func pagesOfTheBestAddUpToAll(_ backend: Backend) throws {
        let world = try Self.world(backend, count: 120)
        try world.stack.readAndWait { context throws in
            let all = try Self.expected(context)
            for size in [1, 9, 64] {
                var pages: [ObjectID<Essay>] = []
                while case let page = try context.fetchObjectIDs(From<Essay>().search("fox").offset(pages.count).limit(size)), !page.isEmpty
                {
                    pages += page
                }
                #expect(pages == all, "\(size)")
            }
        }
    }

    @Test(arguments: Backend.allCases) func batchesHaveTheOrderOfTheWhole(_ backend: Backend) throws {
        let world = try Self.world(backend, count: 300)
        let all = try world.stack.readAndWait { try Self.expected($0) }
        let query = From<Essay>().search("fox")
        try world.stack.readAndWait { context throws in
            for size in [1, 7, 100, 1_000] {
                var found: [ObjectID<Essay>] = []
                try context.fetchInBatches(query, size: size) { essays in
                    #expect(essays.count <= size)
                    found += essays.map(\.objectID)
                }
                #expect(found == all, "\(size)")
            }
            var window: [ObjectID<Essay>] = []
            try context.fetchInBatches(query.offset(20).limit(55), size: 10) { window += $0.map(\.objectID) }
            #expect(window == Array(all[20..<75]))
            let list = try context.fetchLazily(query, batchSize: 16)
            #expect(list.map(\.objectID) == all)
        }
    }

    /// The order is that of the start, although the commits of the body change every score.
    @Test(arguments: Backend.allCases) func batchesKeepTheirOrderWhileTheirTextsChange(_ backend: Backend) async throws {
        let world = try Self.world(backend, count: 150)
        let all = try await world.stack.read { try Self.expected($0) }
        let found = try await world.stack.performBatch { batch in
            var found: [ObjectID<Essay>] = []
            try batch.fetchInBatches(From<Essay>().search("fox"), size: 20) { essays in
                for essay in essays {
                    found.append(essay.objectID)
                    essay.title = "a hen and \(essay.title)"
                }
                try batch.commit()
            }
            return found
        }
        #expect(found == all)
        #expect(try await world.stack.read { try $0.fetchObjectIDs(From<Essay>().search("fox")) == Self.expected($0) })
    }

    @Test(arguments: Backend.allCases) func pendingObjectsHaveTheirPlaceInTheOrder(_ backend: Backend) throws {
        let world = try Self.world(backend, count: 80)
        try world.stack.performAndWait { transaction throws in
            let best = try transaction.create(Into<Essay>())
            best.title = "fox fox fox fox"
            let worst = try transaction.create(Into<Essay>())
            worst.title = Array(repeating: "hen", count: 60).joined(separator: " ") + " fox"
            let query = From<Essay>().search("fox")
            let ids = try transaction.fetchObjectIDs(query)
            #expect(ids.count == 62 && ids.first == best.objectID && ids.last == worst.objectID)
            #expect(try transaction.fetchObjectIDs(query.limit(1)) == [best.objectID])
            #expect(try transaction.fetchObjectIDs(query.offset(61).limit(5)) == [worst.objectID])
            #expect(try transaction.fetchObjectIDs(query.offset(30).limit(12)) == Array(ids[30..<42]))
        }
    }

    @Test(arguments: Backend.allCases) @MainActor func sectionsAreEachInTheOrderOfScores(_ backend: Backend) throws {
        let world = try Self.world(backend, count: 300)
        let all = try world.stack.readAndWait { try Self.expected($0) }
        let sections = try world.stack.readAndWait { context throws in
            try (0..<5).map { year in
                try context.fetchObjectIDs(From<Essay>().search("fox").where(\.year == year).orderBy(.score("fox")))
            }
        }
        // Each section has the order of the whole.
        var position: [ObjectID<Essay>: Int] = [:]
        for (index, id) in all.enumerated() { position[id] = index }
        for section in sections {
            let positions: [Int] = section.compactMap { position[$0] }
            #expect(positions.count == 45 && positions == positions.sorted())
        }
        let monitor = try world.stack.view.monitorSectionedList(From<Essay>().search("fox"), SectionBy(\.year))
        let ids = monitor.objectIDs
        #expect(monitor.sections.map(\.name) == ["0", "1", "2", "3", "4"])
        #expect(monitor.sections.map { Array(ids[$0.range]) } == sections)
        try world.stack.performAndWait { transaction throws in
            let last = try #require(try transaction.fetchOne(From<Essay>().where(\.year == 2).orderBy(.score("fox", ascending: true))))
            try transaction.edit(last).title = "fox fox fox fox fox"
        }
        let changed = try world.stack.readAndWait { try $0.fetchObjectIDs(From<Essay>().search("fox").where(\.year == 2)) }
        #expect(changed.count >= 45 && changed != sections[2])
        let after = monitor.objectIDs
        #expect(monitor.sections.count == 5 && Array(after[monitor.sections[2].range]) == changed)
    }
}
