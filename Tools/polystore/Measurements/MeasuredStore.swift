import Foundation
import PolyStoreBackend
import PolyStoreCore

/// A store of cities in regions: 10,000 cities belong to each region.
enum MeasuredStore {
    static let citiesInRegion = 10_000

    private static let schema = SchemaDescription(
        name: "Measured",
        entities: [
            EntityDescription(
                name: "Region",
                properties: [
                    .attribute(AttributeDescription(name: "name", type: .string, isUnique: true)),
                    .relationship(
                        RelationshipDescription(
                            name: "cities", destination: "City", isToMany: true, inverse: "region", deleteRule: .cascade)),
                ]),
            EntityDescription(
                name: "City",
                properties: [
                    .attribute(AttributeDescription(name: "name", type: .string, isIndexed: true)),
                    .attribute(AttributeDescription(name: "population", type: .int64, isIndexed: true)),
                    .attribute(AttributeDescription(name: "kind", type: .string, isIndexed: true)),
                    .attribute(AttributeDescription(name: "isCapital", type: .bool, isIndexed: true)),
                    .attribute(AttributeDescription(name: "founded", type: .date, isOptional: true, isIndexed: true)),
                    .attribute(AttributeDescription(name: "area", type: .double)),
                    .attribute(AttributeDescription(name: "note", type: .string)),
                    .relationship(RelationshipDescription(name: "region", destination: "Region", isToMany: false, inverse: "cities")),
                ]),
        ])

    /// Creates a store with a number of cities.
    static func fill(_ configuration: StoreConfiguration, cities: Int) throws {
        let stack = try DataStack(Schema(schema), logger: StandardErrorLogger(minimum: .error))
        try stack.addStore(configuration)
        var state: UInt64 = 42
        func random(_ limit: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % limit
        }
        for start in stride(from: 0, to: cities, by: citiesInRegion) {
            let rows: [[String: QueryValue?]] = (start..<min(start + citiesInRegion, cities)).map { number in
                [
                    "name": .text("City \(number)"), "population": .integer(Int64(random(1_000_000))), "kind": .text("kind \(random(12))"),
                    "isCapital": .bool(random(20) == 0),
                    "founded": random(10) == 0 ? nil : .date(Date(timeIntervalSinceReferenceDate: Double(random(600_000_000)))),
                    "area": .real(Double(random(1_000_000)) / 8), "note": .text("A note of the city \(number), which nothing searches."),
                ]
            }
            try stack.performAndWait { transaction in
                let region = try transaction.create("Region", ["name": .text("Region \(start / citiesInRegion)")])
                for row in rows { try transaction.create("City", row).set("region", to: region) }
            }
        }
        // What a server does by itself some minutes after rows were added: statistics, and which pages an index can answer for.
        if configuration.url.hasPrefix("postgresql:") { try stack.stores.first?.compactAndWait() }
        try stack.closeAndWait()
    }
}
