import BrowserData
import Foundation
import PolyStore
import PolyStoreBackend
import StoreTesting
import Testing

@Suite struct LargeAndEmptyTests {
    private static let texts = SchemaDescription(
        name: "Texts 1",
        entities: [
            EntityDescription(
                name: "Text",
                properties: [
                    .attribute(AttributeDescription(name: "number", type: .int64, isIndexed: true)),
                    .attribute(AttributeDescription(name: "text", type: .string)),
                    .attribute(AttributeDescription(name: "bytes", type: .data)),
                ])
        ])

    @Test(arguments: Engine.available) func megabytesAreCutAndExportedInSmallBatches(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let store = try engine.open(try Schema(Self.texts), in: folder) { stack in
            for number in 0..<12 {
                try stack.performAndWait { transaction in
                    let text = String(repeating: "\(number % 10)é", count: 400_000)
                    let bytes = Data(repeating: UInt8(number), count: 1_000_000)
                    try transaction.create(
                        "Text", ["number": .integer(Int64(number)), "text": .text(text), "bytes": .data(bytes)])
                }
            }
        }
        var request = RowsRequest("Text")
        request.order = RowsRequest.Order("text")
        let page = try await store.rows(request)
        #expect(page.rows.count == 12)
        for row in page.rows {
            #expect(row.values[2].isCut && row.values[2].text.count == BrowserValue.longest && row.values[2].size == 1_200_000)
            #expect(row.values[3].text == "1000000 bytes")
        }
        request.size = 5
        #expect(try await PagingTests.forwards(request, store) == page.rows.map(\.object.rowID))
        #expect(try await PagingTests.backwards(request, store) == page.rows.map(\.object.rowID))
        (request.order, request.size) = (nil, 100)
        var sizes: [Int] = []
        for try await batch in try store.exactRows(request) {
            sizes.append(batch.count)
            for row in batch { #expect(row.values[2]?.string?.utf8.count == 1_200_000 && row.values[3]?.data?.count == 1_000_000) }
        }
        #expect(sizes.reduce(0, +) == 12 && sizes.allSatisfy { $0 <= 4 }, "\(sizes)")
        for try await facet in store.facets(of: "text", RowsRequest("Text")) where facet.isComplete {
            #expect(facet.counted == 12 && facet.buckets.count <= 10)
            for bucket in facet.buckets { #expect(bucket.title.count <= BrowserValue.longest && bucket.condition.utf8.count < 1000) }
        }
        let object = try #require(try await store.object(ObjectReference(entity: "Text", rowID: 1)))
        #expect(object.properties[1].value.isCut)
        try await store.close()
    }

    @Test(arguments: Engine.available) func emptyStoreHasAnswers(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let store = try engine.open(Shop.schema, in: folder) { _ in }
        #expect(try await store.entities().allSatisfy { $0.count == 0 })
        for entity in store.entityNames {
            for position in [
                RowsRequest.Position.first, .last, .after(try #require(PageToken("5.bg"))), .before(try #require(PageToken("5.bg"))),
            ] {
                for order in [nil] + (try store.model(entity).attributes.map(\.name)) {
                    var request = RowsRequest(entity)
                    (request.position, request.order) = (position, order.map { RowsRequest.Order($0) })
                    request.wantsCost = true
                    #expect(try await store.rows(request).rows.isEmpty)
                }
            }
            for property in try store.model(entity).attributes where property.type != .data && property.type != .json {
                for try await facet in store.facets(of: property.name, RowsRequest(entity)) {
                    #expect(facet.isComplete && facet.buckets.isEmpty && facet.counted == 0)
                }
            }
            #expect(try await store.groups(GroupsRequest(entity)).rows.map { $0.map(\.text) } == [["0"]])
            #expect(try await store.object(ObjectReference(entity: entity, rowID: 1)) == nil)
        }
        try await store.close()
    }

    @Test(arguments: Engine.available.filter { $0 != .leveldb }) func commitsOfOthersAppear(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let store = try engine.open(Shop.schema, in: folder, forWriting: true, Shop.fill)
        var request = RowsRequest("Order")
        (request.columns, request.order, request.size) = (["day"], RowsRequest.Order("day"), 2)
        let first = try await store.rows(request)
        let other = try BrowserStore(opening: store.store.configuration, forWriting: true, logger: SilentLogger())
        let dates = [-1, 0, 1e8, 1.5e8, 2e8].map { BrowserValue.text(Date(timeIntervalSinceReferenceDate: $0)) }
        try await other.stack.perform { transaction in
            try transaction.create("Order", ["day": .date(Date(timeIntervalSinceReferenceDate: 1.5e8))])
            try transaction.create("Order", ["day": .date(Date(timeIntervalSinceReferenceDate: -1))])
        }
        request.position = .after(try #require(first.next))
        #expect(try await store.rows(request).rows.map { $0.values[0].text } == Array(dates[3...4]))
        request.position = .first
        #expect(try await store.rows(request).rows.map { $0.values[0].text } == Array(dates[0...1]))
        try await other.close()
        try await store.close()
    }
}
