import BrowserData
import Foundation
import PolyStore
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
                    if bucket.link != nil { (selected.filter, selected.link) = (filter, bucket.link) }
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
