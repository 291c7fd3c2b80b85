import BrowserData
import Foundation
import PolyStore
import StoreTesting
import Testing

@Suite struct FacetTests {
    private static let properties = [
        "rank", "isNew", "name", "code", "made", "weight", "score", "rating", "price", "serial", "token", "page", "maker",
    ]

    @Test(arguments: Engine.available) func bucketsHaveTheCountsOfTheirConditions(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let store = try engine.open(Shop.schema, in: folder, Shop.fill)
        for property in Self.properties {
            for filter in ["", "isNew == FALSE", "name == 'nobody'"] {
                var request = RowsRequest("Item")
                request.filter = filter
                let total = try await store.count(request)
                var last: Facet?
                for try await facet in store.facets(of: property, request, size: 1000) { last = facet }
                let facet = try #require(last)
                let place = "\(property) \(filter)"
                #expect(facet.isComplete && facet.counted == total && !facet.hasTooManyValues, "\(place)")
                #expect(facet.buckets.reduce(0) { $0 + $1.count } == total, "\(place) \(facet.buckets)")
                for bucket in facet.buckets {
                    var selected = request
                    selected.filter = filter.isEmpty ? bucket.condition : "(\(filter)) AND \(bucket.condition)"
                    if let link = bucket.link { (selected.filter, selected.links) = (filter, [link]) }
                    #expect(try await store.count(selected) == bucket.count, "\(place) \(bucket)")
                }
            }
        }
        try await store.close()
    }

    @Test(arguments: Engine.available) func valuesComeMostFrequentFirstAndObjectsByTheirNames(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let store = try engine.open(Shop.schema, in: folder, Shop.fill)
        for filter in ["", "rating >= 0"] {
            var request = RowsRequest("Item")
            request.filter = filter
            for try await facet in store.facets(of: "maker", request, size: 3) where facet.isComplete {
                #expect(facet.kind == .values && facet.buckets.count == 3 && facet.valueCount == 6)
                #expect(facet.buckets.map(\.count) == facet.buckets.map(\.count).sorted(by: >))
                for bucket in facet.buckets {
                    #expect(bucket.title == "–" || bucket.title.hasPrefix("Maker "))
                    #expect((bucket.reference == nil) == (bucket.title == "–"))
                }
            }
        }
        try await store.close()
    }

    @Test(arguments: Engine.available) func valuesBeyondThoseThatAreListedAreCounted(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let store = try engine.open(Shop.schema, in: folder, Shop.fill)
        for (property, filter) in [("rank", ""), ("rank", "rating >= 0"), ("isNew", ""), ("isNew", "rating >= 0")] {
            var request = RowsRequest("Item")
            request.filter = filter
            let total = try await store.count(request)
            for try await facet in store.facets(of: property, request, size: 1) where facet.isComplete {
                #expect(facet.buckets.count == 1 && facet.counted == total && facet.valueCount > 1, "\(property) \(filter)")
            }
        }
        try await store.close()
    }

    @Test(arguments: Engine.available) func textsThatDifferInTheMiddleHaveConditionsThatAreAbout(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let parts = ["x", "y"].map { String(repeating: "a", count: 600) + $0 + String(repeating: "b", count: 600) }
        let texts = parts + [String(repeating: "a", count: 1201), "short"]
        let store = try engine.open(Shop.schema, in: folder) { stack in
            try stack.performAndWait { transaction in
                for text in texts { try transaction.create(Maker.self) { $0.title = text } }
            }
        }
        for filter in ["", "title != ''"] {
            var request = RowsRequest("Maker")
            request.filter = filter
            for try await facet in store.facets(of: "title", request) where facet.isComplete {
                #expect(facet.buckets.map { $0.title.hasPrefix("about a") }.filter { $0 }.count == 3 && facet.buckets.count == 4)
                for bucket in facet.buckets {
                    #expect(bucket.title.count <= BrowserValue.longest)
                    request.filter = bucket.condition
                    #expect(try await store.count(request) == (bucket.condition.contains("'b") ? 2 : 1), "\(bucket.condition)")
                }
            }
        }
        try await store.close()
    }

    @Test(arguments: Engine.available) func decimalsThatAreNoNumbersAreCounted(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let store = try engine.open(Shop.schema, in: folder) { stack in
            try stack.performAndWait { transaction in
                for number in 0..<60 {
                    try transaction.create(Item.self) { item in
                        (item.code, item.price) = ("\(number)", number % 20 == 7 ? .nan : number % 20 == 8 ? nil : Decimal(number))
                    }
                }
            }
        }
        for filter in ["", "rating >= 0"] {
            var request = RowsRequest("Item")
            request.filter = filter
            for try await facet in store.facets(of: "price", request) where facet.isComplete {
                #expect(facet.kind == .ranges && facet.buckets.reduce(0) { $0 + $1.count } == 60, "\(facet.buckets)")
                #expect(facet.buckets.first { $0.title == "NaN" }?.count == 3)
                for bucket in facet.buckets {
                    request.filter = bucket.condition
                    #expect(try await store.count(request) == bucket.count, "\(bucket)")
                }
            }
        }
        try await store.close()
    }

    @Test(arguments: Engine.available) func datesThatAreNotFiniteAreCounted(_ engine: Engine) async throws {
        let seconds: [Double?] = [.infinity, -.infinity, .nan, nil, .infinity]
        for finite in [nil, 0.5] {
            let folder = try TemporaryFolder()
            let store = try engine.open(Shop.schema, in: folder) { stack in
                try stack.performAndWait { transaction in
                    for (number, seconds) in (seconds + (finite.map { [$0, $0 + 1e7] } ?? [])).enumerated() {
                        try transaction.create(Item.self) { item in
                            (item.code, item.made) = ("\(number)", seconds.map { Date(timeIntervalSinceReferenceDate: $0) })
                        }
                    }
                }
            }
            for filter in ["", "rating >= 0"] {
                var request = RowsRequest("Item")
                request.filter = filter
                for try await facet in store.facets(of: "made", request) where facet.isComplete {
                    #expect(facet.buckets.reduce(0) { $0 + $1.count } == (finite == nil ? 5 : 7), "\(facet.buckets)")
                    for bucket in facet.buckets {
                        request.filter = bucket.condition
                        #expect(try await store.count(request) == bucket.count, "\(bucket)")
                    }
                }
            }
            try await store.close()
        }
    }

    @Test(arguments: Engine.available) func facetIsReadFromAnIndexOnlyIfThatListsAllValues(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let store = try engine.open(Shop.schema, in: folder, Shop.fill)
        for property in ["rank", "isNew", "made", "weight", "maker", "name"] {
            let facet = try #require(await store.indexedFacet(of: property, RowsRequest("Item")), "\(property)")
            #expect(facet.isComplete && facet.buckets.reduce(0) { $0 + $1.count } == facet.total, "\(property)")
        }
        // More texts than are looked up, no index, a part of the objects.
        #expect(try await store.indexedFacet(of: "code", RowsRequest("Item")) == nil)
        #expect(try await store.indexedFacet(of: "rating", RowsRequest("Item")) == nil)
        var request = RowsRequest("Item")
        request.filter = "rating >= 0"
        #expect(try await store.indexedFacet(of: "rank", request) == nil)
        await #expect(throws: StoreError.self) { try await store.indexedFacet(of: "nothing", RowsRequest("Item")) }
        try await store.close()
    }

    @Test(arguments: Engine.available) func facetOfRelatedObjectsCountsThoseOfItsBucketAmongThem(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let store = try engine.open(Shop.schema, in: folder, Shop.fill)
        var request = RowsRequest("Item")
        request.links = [RowsRequest.Link(object: ObjectReference(entity: "Maker", rowID: 1), relationship: "items")]
        let total = try await store.count(request)
        #expect(total > 1)
        for property in ["maker", "rank"] {
            for try await facet in store.facets(of: property, request) where facet.isComplete {
                #expect(facet.buckets.reduce(0) { $0 + $1.count } == total)
                for bucket in facet.buckets {
                    var selected = request
                    if let link = bucket.link { selected.links.append(link) } else { selected.filter = bucket.condition }
                    #expect(try await store.count(selected) == bucket.count, "\(bucket)")
                }
            }
        }
        // No object is at both.
        request.links.append(RowsRequest.Link(object: ObjectReference(entity: "Maker", rowID: 2), relationship: "items"))
        #expect(try await store.count(request) == 0)
        #expect(try await store.rows(request).rows.isEmpty)
        try await store.close()
    }

    @Test func datesAreDividedByMonthOrLonger() async throws {
        let folder = try TemporaryFolder()
        let store = try Engine.sqlite.open(Shop.schema, in: folder, Shop.fill)
        for try await facet in store.facets(of: "made", RowsRequest("Item")) {
            #expect(facet.kind == .periods)
            #expect(facet.buckets.contains { $0.title == "2001-01" }, "\(facet.buckets.map(\.title))")
        }
        for try await facet in store.facets(of: "day", RowsRequest("Order")) {
            #expect(facet.buckets.map(\.title) == ["2001", "2004", "2007", "2010"], "\(facet.buckets.map(\.title))")
        }
        try await store.close()
    }

    @Test func propertiesWithoutValuesAreRefused() async throws {
        let folder = try TemporaryFolder()
        let store = try Engine.sqlite.open(Shop.schema, in: folder, Shop.fill)
        for property in ["bytes", "tags", "parts", "nothing"] {
            await #expect(throws: StoreError.self, "\(property)") {
                for try await _ in store.facets(of: property, RowsRequest("Item")) {}
            }
        }
        var request = RowsRequest("Item")
        request.filter = "nothing == 1"
        await #expect(throws: FilterMistake.self) { for try await _ in store.facets(of: "rank", request) {} }
        try await store.close()
    }

    @Test(arguments: Engine.available) func groupsHaveFunctions(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let store = try engine.open(Shop.schema, in: folder, Shop.fill)
        let naive = try Naive("Item", store)
        var request = GroupsRequest("Item")
        (request.groups, request.functions) = (["maker"], ["count(*) as number", "max(rating)", "sum(rating) as ratings"])
        (request.order, request.wantsCost) = (RowsRequest.Order("number", isAscending: false), true)
        let table = try await store.groups(request)
        #expect(table.titles == ["maker", "number", "max(rating)", "ratings"] && table.keyCount == 1)
        #expect(table.rows.count == 6 && !table.hasMore)
        #expect(table.rows.reduce(0) { $0 + Int($1[1].number ?? 0) } == naive.rows.count)
        #expect(table.rows.contains { $0[0].text == "Maker 0" && $0[0].reference?.rowID == 1 })
        #expect(!table.cost.plans.isEmpty)
        (request.having, request.size) = ("number > 1", 2)
        let few = try await store.groups(request)
        #expect(few.rows.count == 2 && few.hasMore)
        request.groups = ["nothing"]
        await #expect(throws: StoreError.self) { try await store.groups(request) }
        (request.groups, request.having, request.order) = ([], "", nil)
        #expect(try await store.groups(request).rows.count == 1)
        try await store.close()
    }
}
