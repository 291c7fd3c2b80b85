import PolyStore
import PolyStoreBackend

/// A store with 5,000 entities.
enum Many {
    static let schema = SchemaDescription(
        name: "Many 1",
        entities: (0..<5_000).map { index in
            EntityDescription(
                name: "Entity\(index)",
                properties: [attribute("name", .string)] + (index % 10 == 0 ? [] : [relationship("first", "Entity\(index / 10 * 10)")]))
        })

    static func fill(_ transaction: Transaction) throws {
        for index in stride(from: 0, to: 5_000, by: 100) {
            _ = try transaction.create("Entity\(index)", ["name": .text("object of \(index)")])
        }
    }
}
