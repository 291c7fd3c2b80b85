import PolyStoreBackend

/// Owners and their pets, the schema of the migration cases.
enum Pets {
    static let schema = SchemaDescription([
        EntityDescription(
            "Owner",
            [
                .attribute("name", .string, isUnique: true), .attribute("age", .int16, isOptional: true),
                .toMany("friends", "Owner", inverse: "friends"), .toMany("pets", "Pet", inverse: "owner"),
            ]),
        EntityDescription("Pet", [.attribute("kind", .string, isIndexed: true), .attribute("name", .string), .toOne("owner", "Owner")]),
    ])

    /// The pets are inserted again, as animals with a unique title.
    static let animals = SchemaDescription([
        EntityDescription(
            "Owner",
            [
                .attribute("name", .string, isUnique: true), .attribute("age", .int16, isOptional: true),
                .toMany("friends", "Owner", inverse: "friends"), .toMany("animals", "Animal", inverse: "owner"),
            ]), EntityDescription("Animal", [.attribute("title", .string, isUnique: true), .toOne("owner", "Owner")]),
    ])

    static let owners: [Int64: [Value]] = [1: [.text("Ann"), .integer(40)], 2: [.text("Bob"), .null]]
    static let pets: [Int64: [Value]] = [
        1: [.text("dog"), .text("Rex"), .integer(1)], 2: [.text("cat"), .text("Tom"), .integer(2)],
        3: [.text("dog"), .text("Pluto"), .integer(1)], 4: [.text("bird"), .text("Tweety"), .null],
    ]
    static let friends = "1: 2; 2: 1"

    static func open(_ run: ConformanceRun, _ name: String = "store") throws -> TestStore {
        let store = try run.open(schema, name)
        try store.insert("Owner", owners.sorted { $0.key < $1.key }.map(\.value))
        try store.insert("Pet", pets.sorted { $0.key < $1.key }.map(\.value))
        try store.change { changes in
            for (source, target) in [(1, 2), (2, 1)] as [(Int64, Int64)] {
                changes.link(ChangeSet.LinkChange(table: 0, source: source, target: target, isAddition: true))
            }
        }
        return store
    }

    static func toAnimals(_ store: TestStore) throws -> SchemaChange {
        try store.change(to: animals, entities: ["Animal": .empty(rowIDsOf: 1)])
    }

    /// Returns the contents of the store as text.
    static func contents(_ store: TestStore) throws -> [String] { try store.read { try contents($0, store) } }

    static func contents(_ reader: any ReadTransaction, _ store: TestStore) throws -> [String] {
        var lines: [String] = []
        for name in ["Owner", "Pet"] {
            for (id, row) in try reader.all(try store.entity(name)).sorted(by: { $0.key < $1.key }) {
                lines.append("\(name) \(id): \(row)")
            }
        }
        let kind = try store.field("Pet", "kind")
        lines.append("dogs: \(try reader.ids(FetchRequest(try store.entity("Pet"), predicate: .compare(kind, .equal, .text("dog")))))")
        for name in ["friends", "pets"] { lines.append("\(name): \(try reader.pairs(try store.entity("Owner"), name))") }
        return lines
    }
}
