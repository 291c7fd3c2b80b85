import PolyStoreBackend
import PolyStoreQuery
import PostgreSQLServer
import Testing

@testable import PolyStorePostgreSQL

/// Sums and averages of reals, which the server computes without rounding.
@Suite(.withServer) struct RealSumTests {
    /// A store of reals in numbered groups.
    private func store(_ groups: [[Double?]]) throws -> Store {
        let attributes: [(String, AttributeType)] = [("group", .int64), ("d", .double), ("f", .float)]
        let schema = try ResolvedSchema(
            SchemaDescription(
                name: "Reals",
                entities: [
                    EntityDescription(
                        name: "Thing",
                        properties: attributes.map { .attribute(AttributeDescription(name: $0.0, type: $0.1, isOptional: true)) })
                ]))
        let store = try Store(schema: schema)
        let thing = try store.entity("Thing")
        let changes = ChangeSet(schema)
        var id: Int64 = 0
        for (number, values) in groups.enumerated() {
            for value in values {
                id += 1
                try changes.insert(thing, rowID: id) { record in
                    record.setInteger(0, Int64(number))
                    guard let value else { return }
                    record.setReal(1, value)
                    record.setReal(2, Double(Float(value)))
                }
            }
        }
        try store.write(changes)
        return store
    }

    private func request(_ store: Store, _ names: [String] = ["d", "f"]) throws -> AggregateRequest {
        let fields = try names.map { try store.field("Thing", $0) }
        return AggregateRequest(
            try store.entity("Thing"), groupBy: [try store.field("Thing", "group")],
            aggregates: fields.flatMap { [.sum($0), .average($0), .minimum($0), .maximum($0), .count($0)] })
    }

    /// Returns the sums of the groups that the server computes.
    private func sums(_ groups: [[Double?]]) throws -> [Value] {
        let store = try store(groups)
        return try store.read { try #require(try $0.scanGroups(request(store))).rows.map { $0.values[0] } }
    }

    @Test func sumsAndAveragesAreThoseOfTheSharedExecutor() throws {
        var groups: [[Double?]] = [
            [], [nil, nil], [0, -0.0], [nil, 0.1, nil, 0.2, -0.3], Array(repeating: 0.1, count: 10), [1e12, 0.1, -1e12],
        ]
        for scale in [1e-6, 1, 1e3, 4e12] {
            let values = (1...300).map { Double($0 * 2_654_435_761 % 1_000_003) / 1_000_003 * scale }
            groups.append(values.enumerated().map { $0 % 2 == 0 ? $1 : -$1 })
            groups.append(values.map { ($0 * 100).rounded() / 100 })
        }
        let store = try store(groups)
        try store.read { reader in
            let request = try request(store)
            let found = try #require(try reader.scanGroups(request)).rows
            #expect(try found == Unaided(reader).aggregate(request))
            // A group without rows does not exist.
            #expect(found.map { $0.group } == (1..<groups.count).map { [.integer(Int64($0))] })
            #expect(found[0].values[...4] == [.real(0), .null, .null, .null, .integer(0)])
        }
    }

    @Test func sumIsRoundedOnce() throws {
        // A sum between two reals is the even one, and any digit after it decides.
        let large = 0x1p41
        #expect(
            try sums([
                [large, 0x1p-12], [large, 0x1p-12, 0x1p-30], [large, 0x1p-12, -0x1p-30], [-large, -0x1p-12], [-large, -0x1p-12, -0x1p-30],
                Array(repeating: large, count: 16) + [0x1p-8, 0x1p-30], Array(repeating: -large, count: 16) + [-0x1p-8],
                Array(repeating: large, count: 16) + [0x1p-8, -0x1p-30], [0x1p-30, -0x1.0000000000001p-30],
            ])
                == [
                    large, large + 0x1p-11, large, -large, -large - 0x1p-11, large * 16 + 0x1p-7, -large * 16, large * 16, -0x1p-82,
                ].map { .real($0) })
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300, 0x1p42, 1e-10, .leastNonzeroMagnitude])
    func executorSumsWhatTheServerCannot(_ value: Double) throws {
        let store = try store([[1, 2], [3, value, nil]])
        try store.read { reader in
            let request = try request(store, ["d"])
            #expect(try reader.scanGroups(request) == nil)
            #expect(try reader.aggregate(request) == Unaided(reader).aggregate(request))
        }
    }
}
