import Foundation
import PolyStore
import PolyStoreBackend
import SeededRandom

/// The contents of a store as values, by entity, row id and property.
struct StoreContents: Equatable {
    enum Cell: Equatable {
        case value(Value)
        /// The targets of a relationship: in order if it is ordered, otherwise ascending.
        case ids([Int64])
    }

    var entities: [String: [Int64: [String: Cell]]] = [:]

    mutating func update(_ entity: String, _ change: (Int64, inout [String: Cell]) -> Void) {
        for id in entities[entity, default: [:]].keys {
            var row = entities[entity]?[id] ?? [:]
            change(id, &row)
            entities[entity]?[id] = row
        }
    }

    mutating func set(_ entity: String, _ property: String, _ cell: Cell) { update(entity) { $1[property] = cell } }

    mutating func rename(_ entity: String, _ property: String, to name: String) {
        update(entity) { _, row in
            row[name] = row[property]
            row[property] = nil
        }
    }

    mutating func remove(_ entity: String, _ property: String) { update(entity) { $1[property] = nil } }

    mutating func map(_ entity: String, _ property: String, _ change: (Value) -> Value) {
        update(entity) { _, row in
            if case .value(let value) = row[property] { row[property] = .value(change(value)) }
        }
    }

    /// Returns the first differences from the expected contents, for the message of a test.
    func differences(from expected: StoreContents) -> [String] {
        var found: [String] = []
        for name in Set(entities.keys).union(expected.entities.keys).sorted() {
            let (mine, theirs) = (entities[name] ?? [:], expected.entities[name] ?? [:])
            if mine.count != theirs.count { found.append("\(name) has \(mine.count) objects, expected \(theirs.count)") }
            for id in Set(mine.keys).union(theirs.keys).sorted() {
                let (row, other) = (mine[id] ?? [:], theirs[id] ?? [:])
                for key in Set(row.keys).union(other.keys).sorted() where row[key] != other[key] {
                    found.append(
                        "\(name) \(id).\(key) is \(row[key].map { "\($0)" } ?? "absent"), expected \(other[key].map { "\($0)" } ?? "absent")"
                    )
                    if found.count > 8 { return found }
                }
            }
        }
        return found
    }

    /// Reads all contents through the backend protocol.
    init(_ backend: any StorageBackend, _ schema: ResolvedSchema) throws {
        let reader = try backend.beginRead()
        defer { reader.end() }
        for entity in schema.entities {
            var rows: [Int64: [String: Cell]] = [:]
            let cursor = try reader.fetch(FetchRequest(entity))
            defer { cursor.close() }
            while try cursor.next() {
                var row: [String: Cell] = [:]
                for field in entity.fields where !field.isHidden {
                    let value = cursor.record.value(field)
                    if field.relationship == nil {
                        row[field.name] = .value(value)
                    } else if case .integer(let id) = value {
                        row[field.name] = .ids([id])
                    } else {
                        row[field.name] = .ids([])
                    }
                }
                rows[cursor.rowID] = row
            }
            for relationship in entity.relationships where relationship.isToMany {
                let ids = rows.keys.sorted()
                let related = try reader.related(relationship, of: ids)
                for id in ids { rows[id]?[relationship.name] = .ids(relationship.isOrdered ? related[id] : related[id].sorted()) }
            }
            entities[entity.name] = rows
        }
    }

    init() {}
}

extension StoreConfiguration {
    /// Fills a new store with generated objects, and returns its contents.
    ///
    /// - Parameter rows: The number of members; there are fewer objects of other entities.
    /// - Parameter readsContents: Whether to return the contents; they do not fit into memory for a million members.
    func fill(_ schema: ResolvedSchema, rows: Int, seed: UInt64 = 1, readsContents: Bool = true) throws -> StoreContents {
        let backend = try open(schema: schema, configurationName: nil, logger: SilentLogger())
        defer { try? backend.close() }
        var random = SplitMix64(seed: seed)
        let counts = Dictionary(
            uniqueKeysWithValues: schema.entities.map { ($0.index, $0.name == "Member" ? rows : rows == 0 ? 0 : rows / 50 + 3) })
        var done = 0
        while done < rows || done == 0 {
            let writer = try backend.beginWrite()
            let changes = ChangeSet(schema)
            for entity in schema.entities {
                let count = counts[entity.index] ?? 0
                let range = min(done, count)..<min(done + 2_000, count)
                guard !range.isEmpty else { continue }
                let first = try writer.reserveIDs(entity, count: range.count)
                for offset in range {
                    try changes.insert(entity, rowID: first + Int64(offset - range.lowerBound)) { builder in
                        for field in entity.fields {
                            try builder.set(field, value(field, entity, offset, counts, &random))
                        }
                    }
                }
            }
            if done == 0 { addLinks(schema, counts, changes, &random) }
            try writer.apply(changes)
            _ = try writer.commit(.relaxed)
            done += 2_000
        }
        return readsContents ? try StoreContents(backend, schema) : StoreContents()
    }

    private func value(_ field: Field, _ entity: Entity, _ row: Int, _ counts: [Int: Int], _ random: inout SplitMix64) -> Value {
        if field.isHidden { return .integer(Int64(row)) }
        if let relationship = field.relationship {
            let count = counts[entity.relationships[relationship].destination] ?? 0
            guard count > 0, random.below(5) > 0 else { return .null }
            return .integer(Int64(1 + random.below(count)))
        }
        if field.isOptional, random.below(3) == 0 { return .null }
        let isUnique = field.name == "code" || entity.indexes.contains { $0.isUnique && $0.fields == [field.index] }
        let number = Int64(isUnique ? row : random.below(100))
        switch field.type {
        case .decimal: return Decimal(number).attributeValue
        case .uuid: return UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(number & 255))).attributeValue
        case .url: return .text("https://example.org/\(number)")
        case .bool: return .integer(number & 1)
        case .float: return .real(Double(Float(number) / 4))
        default:
            switch field.type.physical {
            case .integer: return .integer(number)
            case .real: return .real(Double(number) / 4)
            case .text: return .text("\(field.name) \(number) ß€")
            // Some of them take several chunks.
            case .blob: return .blob(Array(repeating: UInt8(number & 127), count: row % 97 == 5 ? 100_000 : Int(number)))
            }
        }
    }

    private func addLinks(_ schema: ResolvedSchema, _ counts: [Int: Int], _ changes: ChangeSet, _ random: inout SplitMix64) {
        for table in schema.links {
            let (sources, targets) = (min(counts[table.source] ?? 0, 400), min(counts[table.target] ?? 0, 400))
            guard sources > 0, targets > 0 else { continue }
            for source in 1...Int64(sources) {
                for position in 0..<random.below(4) {
                    let target = Int64(1 + random.below(targets))
                    if table.isSymmetric, target == source { continue }
                    changes.link(
                        ChangeSet.LinkChange(
                            table: table.index, source: source, target: target, isAddition: true,
                            targetPosition: table.ordersTargets ? Int64(position) : nil,
                            sourcePosition: table.ordersSources ? source : nil))
                    if table.isSymmetric {
                        changes.link(ChangeSet.LinkChange(table: table.index, source: target, target: source, isAddition: true))
                    }
                }
            }
        }
    }

    /// Returns the contents of the store, read with a schema.
    func contents(_ schema: ResolvedSchema) throws -> StoreContents {
        let backend = try open(schema: schema, configurationName: nil, logger: SilentLogger())
        defer { try? backend.close() }
        if backend.capabilities.has(.verification) {
            let findings = try backend.verify()
            guard findings.isEmpty else { throw StoreError(.corrupt, findings.joined(separator: "\n")) }
        }
        return try StoreContents(backend, schema)
    }
}
