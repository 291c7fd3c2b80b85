import BrowserData
import Foundation
import PolyStore
import StoreTesting
import Testing

@Suite struct PagingTests {
    /// The orders: of every type, with and without an index.
    static let orders: [String?] = [
        nil, "rank", "isNew", "name", "code", "made", "weight", "score", "rating", "price", "serial", "token", "bytes", "page", "maker",
    ]
    /// Conditions with what they select.
    private static let filters: [(text: String, isSelected: @Sendable (QueryRow) -> Bool)] = [
        ("", { _ in true }), ("isNew == TRUE", { $0["isNew"]?.bool == true }),
        ("rank > 0", { ($0["rank"]?.int64 ?? 0) > 0 }), ("rating < 0.25", { ($0["rating"]?.double ?? 0) < 0.25 }),
        ("name == 'nobody'", { _ in false }),
    ]

    @Test(arguments: Engine.available) func pagesBothWaysAreTheRowsInOrder(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let store = try engine.open(Shop.schema, in: folder, Shop.fill)
        let naive = try Naive("Item", store)
        for order in Self.orders {
            for isAscending in [true, false] {
                let filters = order.map { ["rank", "weight", "maker"].contains($0) } ?? true ? Self.filters : Array(Self.filters.prefix(1))
                for (number, filter) in filters.enumerated() {
                    var request = RowsRequest("Item")
                    request.columns = ["code"]
                    request.order = order.map { RowsRequest.Order($0, isAscending: isAscending) }
                    if order == nil { request.order = RowsRequest.Order("objectID", isAscending: isAscending) }
                    (request.filter, request.size) = (filter.text, [9, 40, 11, 200, 1][number])
                    let expected = naive.ids(by: order, isAscending: isAscending, where: filter.isSelected)
                    let place = "\(order ?? "id") \(isAscending) \(filter.text)"
                    #expect(try await Self.forwards(request, store) == expected, "forwards \(place)")
                    #expect(try await Self.backwards(request, store) == expected, "backwards \(place)")
                }
            }
        }
        try await store.close()
    }

    @Test(arguments: Engine.available) func pagesContinueAfterTextsThatBeginWithACombiningCharacter(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let store = try engine.open(Shop.schema, in: folder) { stack in
            try stack.performAndWait { transaction in
                for title in ["\u{301}a", "a", "\u{301}", "\u{200d}x", "\u{fe0f}", "", "\u{20dd}\u{301}b", "t\u{301}"] {
                    try transaction.create(Maker.self) { $0.title = title }
                }
            }
        }
        let naive = try Naive("Maker", store)
        var request = RowsRequest("Maker")
        (request.order, request.size) = (RowsRequest.Order("title"), 1)
        #expect(try await Self.forwards(request, store) == naive.ids(by: "title"))
        #expect(try await Self.backwards(request, store) == naive.ids(by: "title"))
        try await store.close()
    }

    @Test(arguments: Engine.available) func pathsAndCalculationsAreOrders(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let store = try engine.open(Shop.schema, in: folder, Shop.fill)
        let makers = Dictionary(uniqueKeysWithValues: try Naive("Maker", store).rows.map { ($0.id, $0.values["title"]) })
        let items = try Naive("Item", store)
        func ids(_ value: (QueryRow) -> QueryValue?) -> [Int64] {
            items.rows.sorted { left, right in
                let order = Naive.order(value(left.values), value(right.values))
                return order == 0 ? left.id < right.id : order < 0
            }.map(\.id)
        }
        let titles = ids { if case .objectID(let id)? = $0["maker"] { makers[id.rowID] ?? nil } else { nil } }
        let negative = ids { ($0["rating"]?.double).map { .real(0 - $0) } }
        let texts = ids { $0["tags"] }
        for (term, expected) in [("maker.title", titles), ("0 - rating", negative), ("tags", texts)] {
            var request = RowsRequest("Item")
            (request.columns, request.order, request.size) = (["code"], RowsRequest.Order(term), 11)
            #expect(try await Self.forwards(request, store) == expected, "\(term)")
            #expect(try await Self.backwards(request, store) == expected, "\(term)")
            request.order?.isAscending = false
            #expect(try await Self.forwards(request, store) == expected.reversed(), "\(term)")
        }
        try await store.close()
    }

    /// Reads all pages from the first on.
    static func forwards(_ request: RowsRequest, _ store: BrowserStore) async throws -> [Int64] {
        var (request, ids) = (request, [Int64]())
        request.position = .first
        while true {
            let page = try await store.rows(request)
            #expect((page.previous == nil) == (request.position == .first))
            ids += page.rows.map(\.object.rowID)
            guard let next = page.next else { return ids }
            #expect(page.rows.count == request.size)
            request.position = .after(try #require(PageToken("\(next)")))
        }
    }

    /// Reads all pages from the last on.
    static func backwards(_ request: RowsRequest, _ store: BrowserStore) async throws -> [Int64] {
        var (request, ids) = (request, [Int64]())
        request.position = .last
        while true {
            let page = try await store.rows(request)
            #expect((page.next == nil) == (request.position == .last))
            guard let previous = page.previous else {
                // The first page is complete: it can repeat rows of the second.
                let known = Set(ids)
                return page.rows.map(\.object.rowID).filter { !known.contains($0) } + ids
            }
            ids = page.rows.map(\.object.rowID) + ids
            #expect(page.rows.count == request.size)
            request.position = .before(try #require(PageToken("\(previous)")))
        }
    }

    @Test(arguments: Engine.available) func rowsThatAreDeletedKeepTheirPlace(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let store = try engine.open(Shop.schema, in: folder, forWriting: true, Shop.fill)
        for order in ["objectID", "rank", "weight"] {
            var request = RowsRequest("Item")
            (request.columns, request.order, request.size) = (["code"], RowsRequest.Order(order), 10)
            let first = try await store.rows(request)
            request.position = .after(try #require(first.next))
            let second = try await store.rows(request)
            let last = try #require(first.rows.last).object.rowID
            let id = try store.stack.objectID("Item", rowID: last)
            try await store.stack.perform { transaction in
                if let object = try transaction.fetchExisting(id) { try transaction.delete(object) }
            }
            #expect(try await store.rows(request).rows.map(\.object) == second.rows.map(\.object))
            request.position = .before(try #require(second.previous))
            #expect(try await store.rows(request).rows.count == 10)
        }
        try await store.close()
    }

    @Test(arguments: Engine.available) func scoresOrderThePagesOfASearch(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let store = try engine.open(Shop.schema, in: folder, Shop.fill)
        var request = RowsRequest("Item")
        (request.columns, request.search, request.size) = (["name"], "long", 5)
        let count = try await store.count(request)
        #expect(count > 5)
        #expect(try await store.rows(request).order == nil)
        let found = try await Self.forwards(request, store)
        #expect(Set(found).count == count)
        #expect(try await Self.backwards(request, store) == found)
        request.order = RowsRequest.Order("rank")
        let naive = try Naive("Item", store)
        let expected = naive.ids(by: "rank") { $0["name"]?.string?.contains("long") ?? false }
        #expect(try await Self.forwards(request, store) == expected)
        #expect(try await Self.backwards(request, store) == expected)
        try await store.close()
    }

    @Test(arguments: Engine.available) func subentitiesAndEmptyEntitiesHavePages(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let store = try engine.open(Shop.schema, in: folder, Shop.fill)
        for (entity, count) in [("Part", 4), ("Wheel", 3), ("Screw", 1), ("Empty", 0)] {
            for order in ["objectID", entity == "Empty" ? "value" : "number"] {
                for isAscending in [true, false] {
                    var request = RowsRequest(entity)
                    (request.order, request.size) = (RowsRequest.Order(order, isAscending: isAscending), 2)
                    let found = try await Self.forwards(request, store)
                    #expect(found.count == count)
                    #expect(try await Self.backwards(request, store) == found)
                }
            }
        }
        try await store.close()
    }

    @Test(arguments: ["", ".", "1", "1.", "x.bg", "99999999999999999999.bg", "1.eg", "1.dDE=x", "1.\u{0}"])
    func otherTextsAreNoTokens(_ text: String) { #expect(PageToken(text) == nil) }
}
