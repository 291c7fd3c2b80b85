import BrowserData
import Foundation
import PolyStore
import StoreTesting
import Testing

@Suite struct RowsTests {
    @Test(arguments: Engine.available) func entitiesHaveTheNumbersOfTheirObjects(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let store = try engine.open(Shop.schema, in: folder, Shop.fill)
        let entities = try await store.entities()
        #expect(entities.map(\.name) == ["Item", "Maker", "Part", "Wheel", "Screw", "Order", "Empty"])
        #expect(entities.map(\.count) == [Shop.itemCount - 14, 6, 4, 3, 1, 4, 0])
        #expect(entities.map(\.level) == [0, 0, 0, 1, 1, 0, 0])
        try await store.close()
    }

    @Test(arguments: Engine.available) func columnsAreValuesPathsCountsAndCalculations(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let store = try engine.open(Shop.schema, in: folder, Shop.fill)
        var request = RowsRequest("Item")
        request.columns = ["objectID", "maker", "maker.title", "parts", "rating * 2 as double", "code"]
        request.filter = "code IN {'code 0', 'code 1'}"
        let page = try await store.rows(request)
        #expect(page.columns.map(\.title) == ["objectID", "maker", "maker.title", "parts", "double", "code"])
        #expect(page.columns[1].destination == "Maker")
        #expect(page.rows.map { $0.values[3].text } == ["3", "1"])
        #expect(page.rows.map { $0.values[5].text } == ["code 0", "code 1"])
        for row in page.rows { #expect(row.values[1].text == row.values[2].text && row.values[0].text == "\(row.object.rowID)") }
        request = RowsRequest("Part")
        let parts = try await store.rows(request)
        #expect(parts.columns.map(\.title) == ["id", "entity", "number"])
        #expect(parts.rows.map(\.object.entity) == ["Wheel", "Wheel", "Wheel", "Screw"])
        #expect(try await store.rows(RowsRequest("Empty")).rows.isEmpty)
        try await store.close()
    }

    @Test(arguments: Engine.available) func exactRowsAreAllObjects(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let store = try engine.open(Shop.schema, in: folder, Shop.fill)
        let naive = try Naive("Item", store)
        var request = RowsRequest("Item")
        (request.columns, request.size, request.order) = (["name", "score", "maker"], 10, RowsRequest.Order("name", isAscending: false))
        var (ids, count) = ([Int64](), 0)
        for try await batch in try store.exactRows(request) {
            #expect(batch.count <= 10 && !batch.isEmpty)
            ids += batch.map(\.object.rowID)
            count += 1
        }
        #expect(ids == naive.ids(by: "name", isAscending: false))
        #expect(count == (ids.count - 4 + 9) / 10 + 1)
        try await store.close()
    }

    @Test(arguments: Engine.available) func costNamesTheIndex(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let store = try engine.open(Shop.schema, in: folder, Shop.fill)
        var request = RowsRequest("Item")
        (request.order, request.filter, request.wantsCost) = (RowsRequest.Order("rank"), "rank == 3", true)
        let found = try await store.rows(request)
        #expect(found.cost.accesses.contains { $0.contains("rank") }, "\(found.cost.accesses)")
        #expect((found.cost.rowsExamined ?? 0) > 0)
        #expect(try await store.advice(for: request).isEmpty)
        request.filter = "serial == 1"
        #expect(try await store.advice(for: request).first?.contains("serial") ?? false)
        request.wantsCost = false
        #expect(try await store.rows(request).cost.rowsExamined == nil)
        try await store.close()
    }

    static let mistakes: [(filter: String, offset: Int?, word: String)] = [
        ("rnk > 3", 0, "rank"), ("rank > 3 AND\n  nam == 'x'", 15, "name"), ("name contans 'x'", 5, "CONTAINS"), ("rank >", 6, ""),
        ("שלום == 1", 0, ""), ("name == %@", nil, ""), ("(rank > 1", nil, ""), ("maker.nothing == 1", 0, "nothing"),
        ("rank == 'text'", nil, ""),
    ]

    @Test func mistakesOfFiltersHaveTheirPlace() async throws {
        let folder = try TemporaryFolder()
        let store = try Engine.sqlite.open(Shop.schema, in: folder, Shop.fill)
        for (filter, offset, word) in Self.mistakes {
            var request = RowsRequest("Item")
            request.filter = filter
            do {
                _ = try await store.rows(request)
                Issue.record("\(filter) is valid")
            } catch let mistake as FilterMistake {
                if let offset { #expect(mistake.offset == offset, "\(filter): \(mistake)") }
                #expect(
                    (word.isEmpty || mistake.message.contains(word)) && !mistake.message.contains("\n")
                        && !mistake.message.contains(" (at "), "\(mistake)")
                #expect(mistake.length >= 1)
                #expect(await store.checkFilter(filter, of: "Item") == mistake)
            }
        }
        #expect(await store.checkFilter("rank > 3", of: "Item") == nil)
        #expect(await store.checkFilter(" ", of: "Item") == nil)
        try await store.close()
    }

    @Test func requestsForWhatIsNotThereAreRefused() async throws {
        let folder = try TemporaryFolder()
        let store = try Engine.lmdb.open(Shop.schema, in: folder, Shop.fill)
        var requests = [
            RowsRequest("Nothing"), RowsRequest("Item"), RowsRequest("Item"), RowsRequest("Item"), RowsRequest("Maker"),
            RowsRequest("Item"),
        ]
        requests[1].columns = ["nothing"]
        requests[2].order = RowsRequest.Order("nothing")
        requests[3].columns = [""]
        requests[4].search = "text"
        requests[5].order = RowsRequest.Order("code")
        requests[5].position = .after(try #require(PageToken("1.aTE")))
        for request in requests {
            await #expect(throws: StoreError.self, "\(request)") { try await store.rows(request) }
        }
        try await store.close()
    }

    @Test(arguments: Engine.available) func readsEndWithTheirTaskAndTheirTime(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let store = try engine.open(Shop.schema, in: folder, Shop.fill)
        await #expect(throws: StoreError.self) { try await store.rows(RowsRequest("Item"), timeLimit: .zero) }
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await store.rows(RowsRequest("Item")).rows.count
        }
        task.cancel()
        await #expect(throws: (any Error).self) { try await task.value }
        for try await _ in store.facets(of: "score", RowsRequest("Item")) { break }
        #expect(try await store.rows(RowsRequest("Item")).rows.count == 50)
        try await store.close()
    }
}
