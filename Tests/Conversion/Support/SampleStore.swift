import Foundation
package import PolyStoreBackend
import SeededRandom

/// Fills stores of ``SampleSchema``.
package struct SampleStore {
    private let backend: any StorageBackend
    private let schema: ResolvedSchema

    package init(_ backend: any StorageBackend) throws {
        self.backend = backend
        schema = try ResolvedSchema(SampleSchema.description)
    }

    /// Opens a store, creates it if it does not exist.
    package static func open(_ store: StoreConfiguration, configurationName: String? = nil) throws -> any StorageBackend {
        try store.open(
            schema: ResolvedSchema(SampleSchema.description), configurationName: configurationName, logger: StandardErrorLogger())
    }

    /// Fills the store in several commits, deletes some objects and some history.
    /// - Parameter people: The number of people. The other entities have a number of objects that depends on it.
    package func fill(people: Int) throws {
        try write { writer, changes in
            try everything(changes)
            _ = try writer.reserveIDs(entity("Everything"), count: 200)
            try changes.insert(entity(SampleSchema.oddName), rowID: .max) { $0.setText(0, "a\0b'\"") }
            try changes.insert(entity(SampleSchema.oddName), rowID: -5) { _ in }
            try changes.setValue([], named: "empty value")
            try changes.setValue([UInt8](repeating: 0xff, count: NamedValue.longestValue), named: "longest")
            try changes.setValue([1, 2, 3], named: String(repeating: "ü", count: NamedValue.longestName / 2))
            try changes.setValue([4], named: "polystore.versions.test")
            changes.appendLogEntry([1, 2, 3])
            changes.appendLogEntry([])
        }
        try write { writer, changes in try graph(writer, changes, people) }
        let entries = 5 + people / 4
        for number in 0..<3 {
            try write { _, changes in
                for entry in 0..<entries { changes.appendLogEntry([UInt8](repeating: UInt8(number), count: entry * 37 % 9000)) }
            }
        }
        try write { writer, changes in
            changes.removeLogEntries(through: 4)
            // Ids at the end, which must not be given again.
            _ = try writer.reserveIDs(entity("Empty"), count: 7)
            _ = try writer.reserveIDs(entity("Person"), count: 3)
        }
    }

    private func entity(_ name: String) throws -> Entity {
        guard let found = schema.entity(named: name) else { throw StoreError(.misuse, "no entity \(name)") }
        return found
    }

    private func write(_ body: (any WriteTransaction, ChangeSet) throws -> Void) throws {
        let writer = try backend.beginWrite()
        let changes = ChangeSet(schema)
        try body(writer, changes)
        try writer.apply(changes)
        _ = try writer.commit(.relaxed)
    }

    // MARK: Attributes

    /// The values at the bounds of each type.
    private static func bounds(_ type: AttributeType) -> [Value] {
        switch type.physical {
        case .integer:
            if let bounds = type.integerBounds { return [.integer(bounds.lowerBound), .integer(bounds.upperBound), .integer(0)] }
            return [.integer(.min), .integer(.max), .integer(-1), .integer(0)]
        case .real:
            if type == .float {
                return [Float.nan, -0, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude].map { .real(Double($0)) }
            }
            // The dates that Foundation calls distant, and beyond.
            return [
                .nan, -0, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude, -63_114_076_800, 63_113_904_000, 0.1,
            ].map { .real($0) }
        case .text:
            if type == .json { return ["{}", "[1,\"\\u0000\"]", "null", "{\"a\":{\"b\":[1.5,\"ü\"]}}"].map { .text($0) } }
            return ["", "a\0b", "\0", "é e\u{301}", "\u{fffe}\u{10ffff}", "'\"\\;--", String(repeating: "long ü ", count: 3000)].map {
                .text($0)
            }
        case .blob:
            if type == .uuid { return [[UInt8](repeating: 0, count: 16), [UInt8](repeating: 255, count: 16)].map { .blob($0) } }
            if type == .decimal {
                let decimals: [Decimal] = [
                    0, 1, -1, .greatestFiniteMagnitude, .leastFiniteMagnitude, Decimal(sign: .plus, exponent: -100, significand: 7),
                ]
                return decimals.map { .blob($0.orderedBytes) }
            }
            return [[], [0], [255, 0, 1], (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }].map { .blob($0) }
        }
    }

    private func everything(_ changes: ChangeSet) throws {
        let entity = try entity("Everything")
        var rowID: Int64 = 1
        func insert(_ values: [Int: Value]) throws {
            try changes.insert(entity, rowID: rowID) { builder in
                for field in entity.fields { try builder.set(field, values[field.index] ?? .null) }
            }
            rowID += 3
        }
        try insert([:])
        for type in AttributeType.allCases {
            guard let field = entity.field(named: SampleSchema.attribute(type)) else { continue }
            for value in Self.bounds(type) { try insert([field.index: value]) }
        }
        guard let code = entity.field(named: "code") else { return }
        for length in [0, 1, 255, 256, 511, 512, 2000, 4000] {
            try insert([code.index: .text(String(repeating: "k", count: length))])
        }
    }

    // MARK: Objects and links

    private func graph(_ writer: any WriteTransaction, _ changes: ChangeSet, _ people: Int) throws {
        let (person, team, tag, animal) = (try entity("Person"), try entity("Team"), try entity("Tag"), try entity("Animal"))
        let first = try writer.reserveIDs(person, count: max(1, people))
        for id in 1...3 as ClosedRange<Int64> { try changes.insert(team, rowID: id) { $0.setText(0, "team \(id)") } }
        for id in 1...5 as ClosedRange<Int64> { try changes.insert(tag, rowID: id) { $0.setText(0, "tag \(id)") } }
        for id in 1...4 as ClosedRange<Int64> {
            try changes.insert(animal, rowID: id) { builder in
                builder.setText(0, "animal \(id)")
                builder.setInteger(id % 2 == 0 ? 1 : 2, id)
                builder.setText(3, id % 2 == 0 ? "Dog" : "Bird")
            }
        }
        var random = SplitMix64(seed: 7)
        let ids = (0..<Int64(people)).map { first + $0 }
        for id in ids { try insert(person, id, ids, changes, &random) }
        for id in ids { links(person, id, ids, changes, &random) }
    }

    private func insert(_ person: Entity, _ id: Int64, _ ids: [Int64], _ changes: ChangeSet, _ random: inout SplitMix64) throws {
        let partner = ids.first.map { first in first + ((id - first) ^ 1) }
        let isPaired = partner.map(ids.contains) ?? false
        let (team, boss) = (Int64.random(in: 0...3, using: &random), ids.randomElement(using: &random) ?? id)
        let note = Int.random(in: 0...3, using: &random) == 0 ? nil : String(repeating: "n", count: Int.random(in: 0...200, using: &random))
        let position = Int64.random(in: -1000...1000, using: &random)
        try changes.insert(person, rowID: id) { builder in
            for field in person.fields {
                switch field.name {
                case "name": builder.setText(field.index, "person \(id)")
                case "note": if let note { builder.setText(field.index, note) }
                case "team": if team > 0 { builder.setInteger(field.index, team) }
                case "boss": builder.setInteger(field.index, boss)
                case "partner": if let partner, isPaired { builder.setInteger(field.index, partner) }
                // Hidden positions, which need not be consecutive.
                default: if field.isHidden, field.name != "_order_team" || team > 0 { builder.setInteger(field.index, position) }
                }
            }
        }
    }

    private func links(_ person: Entity, _ id: Int64, _ ids: [Int64], _ changes: ChangeSet, _ random: inout SplitMix64) {
        for relationship in person.relationships where relationship.isToMany {
            guard case .link(let table, let isReversed) = relationship.storage, relationship.name != "knownBy" else { continue }
            let link = schema.links[table]
            let targets: [Int64] =
                switch relationship.destination {
                case person.index: (0..<3).compactMap { _ in ids.randomElement(using: &random) }
                default: [1, 2, 3, 4].shuffled(using: &random).dropLast(Int.random(in: 0...4, using: &random))
                }
            for target in targets {
                let positions = (Int64.random(in: -9...9, using: &random), Int64.random(in: -9...9, using: &random))
                let (source, end) = isReversed ? (target, id) : (id, target)
                changes.link(
                    .init(
                        table: table, source: source, target: end, isAddition: true, targetPosition: positions.0,
                        sourcePosition: positions.1))
                guard link.isSymmetric, source != end else { continue }
                changes.link(
                    .init(
                        table: table, source: end, target: source, isAddition: true, targetPosition: positions.1,
                        sourcePosition: positions.0))
            }
        }
    }
}
