import BrowserData
import Foundation
import PolyStore
import PolyStoreBackend
import StoreTesting
import Testing

/// Rows that are examined do not depend on the load of a machine, as times do. A server of PostgreSQL is left out: it reads a table of this size as a whole.
@Suite struct ConstantCostTests {
    private static let schema = SchemaDescription(
        name: "Many 1",
        entities: [
            EntityDescription(
                name: "Row",
                properties: [
                    .attribute(AttributeDescription(name: "value", type: .int64, isIndexed: true)),
                    .attribute(AttributeDescription(name: "isEven", type: .bool, isIndexed: true)),
                    .attribute(AttributeDescription(name: "day", type: .date, isOptional: true, isIndexed: true)),
                    .relationship(RelationshipDescription(name: "owner", destination: "Owner", isToMany: false, inverse: "rows")),
                ]),
            EntityDescription(
                name: "Owner",
                properties: [
                    .attribute(AttributeDescription(name: "name", type: .string)),
                    .relationship(RelationshipDescription(name: "rows", destination: "Row", isToMany: true, inverse: "owner")),
                ]),
        ])
    private static let count = 4000

    private static func open(_ engine: Engine, in folder: TemporaryFolder) throws -> BrowserStore {
        try engine.open(try Schema(schema), in: folder) { stack in
            try stack.performAndWait { transaction in
                let owners = try (0..<2).map { try transaction.create("Owner", ["name": .text("Owner \($0)")]) }
                for number in 0..<count {
                    let row = try transaction.create(
                        "Row",
                        [
                            "value": .integer(Int64(number * 7919 % 100_003)), "isEven": .bool(number % 2 == 0),
                            "day": number % 7 == 0 ? nil : .date(Date(timeIntervalSinceReferenceDate: Double(number % 3) * 1e6)),
                        ])
                    try row.set("owner", to: owners[number % 5 / 3])
                }
            }
        }
    }

    @Test(arguments: [Engine.sqlite, .lmdb, .leveldb]) func everyPageReadsAsFewRowsAsTheFirst(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let store = try Self.open(engine, in: folder)
        for order in ["objectID", "value", "isEven", "day", "owner"] {
            for filter in ["", "isEven == TRUE", "value > 50000"] {
                for isAscending in [true, false] {
                    var request = RowsRequest("Row")
                    (request.order, request.filter) = (RowsRequest.Order(order, isAscending: isAscending), filter)
                    (request.size, request.wantsCost) = (20, true)
                    for position in try await Self.positions(request, store) {
                        request.position = position
                        let page = try await store.rows(request)
                        #expect(page.rows.count == 20)
                        let examined = try #require(page.cost.rowsExamined)
                        // Rows with equal values are found in up to three steps, and each row is read once more by its id.
                        #expect(examined < 800, "\(order) \(isAscending) \(filter) \(position): \(page.cost.plans.joined(separator: "\n"))")
                    }
                }
            }
        }
        try await store.close()
    }

    /// Returns the first and the last pages, and those beside them.
    private static func positions(_ request: RowsRequest, _ store: BrowserStore) async throws -> [RowsRequest.Position] {
        var (request, positions) = (request, [RowsRequest.Position.first, .last])
        if let next = try await store.rows(request).next { positions.append(.after(next)) }
        request.position = .last
        if let previous = try await store.rows(request).previous { positions.append(.before(previous)) }
        return positions
    }

    @Test(arguments: Engine.available) func rangesOfIntegersAreComparedWithIntegers(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let store = try Self.open(engine, in: folder)
        for filter in ["", "isEven == TRUE"] {
            var request = RowsRequest("Row")
            request.filter = filter
            for try await facet in store.facets(of: "value", request) where facet.isComplete {
                #expect(facet.kind == .ranges && facet.buckets.count > 5)
                #expect(facet.buckets.reduce(0) { $0 + $1.count } == (filter.isEmpty ? Self.count : Self.count / 2))
                for bucket in facet.buckets {
                    // An engine could not find a real of this size in an index of integers.
                    #expect(!bucket.condition.contains("e+"), "\(bucket)")
                    request.filter = bucket.condition
                    if filter.isEmpty { #expect(try await store.count(request) == bucket.count, "\(bucket)") }
                }
            }
        }
        try await store.close()
    }

    @Test(arguments: [Engine.sqlite, .lmdb, .leveldb]) func linksAndRowsOfARelationshipReadFewRows(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let store = try Self.open(engine, in: folder)
        let object = try #require(try await store.object(ObjectReference(entity: "Owner", rowID: 1), related: 5, wantsCost: true))
        #expect(object.links.first?.count == Self.count * 3 / 5)
        // The number of related objects is that of the entries of the index.
        #expect((object.cost.rowsExamined ?? .max) < Self.count * 3 / 5 + 100, "\(object.cost.plans.joined(separator: "\n"))")
        var request = RowsRequest("Row")
        (request.size, request.wantsCost) = (20, true)
        request.links = [RowsRequest.Link(object: object.object, relationship: "rows")]
        let page = try await store.rows(request)
        #expect((page.cost.rowsExamined ?? .max) < 100, "\(page.cost.plans.joined(separator: "\n"))")
        try await store.close()
    }
}
