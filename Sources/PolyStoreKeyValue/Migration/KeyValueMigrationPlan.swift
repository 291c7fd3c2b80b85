import PolyStoreBackend

/// The assignment of a store's numbers in a migration: which entities, indexes and link tables keep theirs, and which get new ones.
struct KeyValueMigrationPlan {
    let change: SchemaChange
    let journal: MigrationJournal
    let source: Catalog
    let target: Catalog
    let location: String

    /// - Parameters:
    ///   - journal: The journal of an interrupted attempt at the same change; `nil` assigns new numbers.
    ///   - source: The current catalog of the store.
    ///   - snapshot: A current snapshot of the store.
    init(_ change: SchemaChange, resuming journal: MigrationJournal?, _ source: Catalog, _ snapshot: any EngineSnapshot, location: String)
        throws
    {
        self.change = change
        self.source = source
        self.location = location
        try Self.checkValues(change)
        let journal = try journal ?? Self.journal(change, source, snapshot, location)
        self.journal = journal
        target = try Self.target(change, source, journal, snapshot, location)
    }

    /// Checks that constants and replacements of null are valid for their fields.
    private static func checkValues(_ change: SchemaChange) throws {
        for (entity, part) in zip(change.target.entities, change.entities) {
            guard case .carried(_, let fields) = part else { continue }
            for (field, source) in zip(entity.fields, fields) {
                let value =
                    switch source {
                    case .constant(let value): value
                    case .field(_, let replacement): replacement
                    }
                guard field.accepts(value) else {
                    throw StoreError(
                        .misuse,
                        "The schema change \(change.identifier) is not valid: \(value) is not a value of \(entity.name).\(field.name), which is of type "
                            + "\(field.type.rawValue).", entity: entity.name, attribute: field.name)
                }
            }
        }
    }

    // MARK: Numbers

    private static func journal(_ change: SchemaChange, _ source: Catalog, _ snapshot: any EngineSnapshot, _ location: String) throws
        -> MigrationJournal
    {
        // Follows every number that is in use, and every number whose keys are still to be removed.
        let removed = try PendingRemoval.all(snapshot)
        func last(_ numbers: some Sequence<UInt32>, _ spaces: [Keyspace]) -> UInt32 {
            let pending = removed.filter { prefix in spaces.contains { $0.rawValue == prefix[0] } }
                .compactMap { prefix in
                    prefix.withUnsafeBytes { BigEndianInteger.read(UnsafeRawBufferPointer(rebasing: $0[1...]), as: UInt32.self) }
                }
            return max(numbers.max() ?? 0, pending.max() ?? 0)
        }
        var (entity, link) = (last(source.entities.values, [.record, .blobChunk]), last(source.links.values, [.link, .linkInverse]))
        var lastIndex = last(source.indexes.values, [.index, .uniqueIndex])
        func next(_ number: inout UInt32) -> UInt32 {
            number += 1
            return number
        }
        let entities: [UInt32] = change.entities.map { if case .carried = $0 { 0 } else { next(&entity) } }
        let links: [UInt32] = change.links.map { if case .carried = $0 { 0 } else { next(&link) } }
        // Two fields may copy the same one, whose index is carried only once.
        var taken: Set<UInt32> = []
        let indexes: [[UInt32]] = try change.target.entities.map { entity in
            try entity.indexes.map { index in
                let number = try carried(index, entity, change, source, snapshot, location)
                return number.map { taken.insert($0).inserted } ?? false ? 0 : next(&lastIndex)
            }
        }
        return MigrationJournal(
            identifier: change.identifier, sourceHash: change.source.versionHash, targetHash: change.target.versionHash,
            entities: entities, links: links, indexes: indexes)
    }

    /// Returns the number of the source index with the same entries; `nil` if there is none.
    private static func carried(
        _ index: Index, _ entity: Entity, _ change: SchemaChange, _ source: Catalog, _ snapshot: any EngineSnapshot, _ location: String
    ) throws -> UInt32? {
        guard let (old, fields) = same(index, entity, change) else { return nil }
        let number = try source.number(of: old, fields, location)
        // An incomplete index is rebuilt.
        let state = try snapshot.get(Keyspace.Metadata.indexState.key(number)).flatMap(IndexState.init)
        return state?.phase == .readable ? number : nil
    }

    /// Returns the source index with the same entries as a target index, and its entity.
    private static func same(_ index: Index, _ entity: Entity, _ change: SchemaChange) -> (Index, Entity)? {
        guard case .carried(let before, let fields) = change.entities[entity.index] else { return nil }
        let old = change.source.entities[before]
        var parts: [Index.Part] = []
        for part in index.parts {
            guard case .field(let field, let replacement) = fields[part.field], replacement.isNull || !old.fields[field].isOptional,
                old.fields[field].type.keyEncoding == entity.fields[part.field].type.keyEncoding
            else { return nil }
            parts.append(part.of(field))
        }
        return old.indexes.first { $0.parts == parts && $0.isUnique == index.isUnique }.map { ($0, old) }
    }

    private static func target(
        _ change: SchemaChange, _ source: Catalog, _ journal: MigrationJournal, _ snapshot: any EngineSnapshot, _ location: String
    ) throws -> Catalog {
        var target = Catalog()
        for (entity, part) in zip(change.target.entities, change.entities) {
            guard case .carried(let before, let fields) = part else {
                target.entities[entity.name] = journal.entities[entity.index]
                continue
            }
            let old = change.source.entities[before]
            let number = try source.number(of: old, location)
            target.entities[entity.name] = number
            let count: Int64? = try snapshot.get(Keyspace.Metadata.statistics.key(number)).flatMap { BigEndianInteger.read($0) }
            let format = try source.format(of: old, location).followed(
                by: fields, of: old, to: entity, isEmpty: count ?? 0 == 0, location: location)
            if format.number != 0 { target.formats[number] = format }
        }
        for (table, part) in zip(change.target.links, change.links) {
            guard case .carried(let before, let isReversed) = part else {
                target.links[table.name] = journal.links[table.index]
                continue
            }
            let number = try source.number(of: change.source.links[before], location)
            target.links[table.name] = number
            if source.reversedLinks.contains(number) != isReversed { target.reversedLinks.insert(number) }
        }
        for entity in change.target.entities {
            let number = try target.number(of: entity, location)
            for (index, staged) in zip(entity.indexes, journal.indexes[entity.index]) {
                var found: UInt32? = staged
                if staged == 0 { found = try carried(index, entity, change, source, snapshot, location) }
                guard let found else {
                    throw StoreError(
                        .corrupt, "The journal of a migration of \(location) names no number for the index \(index.name).",
                        location: location)
                }
                target.indexes[Catalog.IndexName(index, entity, number: number)] = found
            }
        }
        try carrySearchIndexes(change, source, &target, location)
        return target
    }

    // MARK: Writing

    /// Writes the journal, and the metadata of everything that the migration creates.
    func begin(_ writer: any EngineWriter) throws {
        try SealedValue.put(MigrationJournal.key, journal.bytes, writer)
        for (entity, part) in zip(change.target.entities, change.entities) {
            let number = try target.number(of: entity, location)
            var isEmpty = false
            if case .empty(let continued) = part {
                isEmpty = true
                if let continued {
                    let key = Keyspace.Metadata.sequence.key(try source.number(of: change.source.entities[continued], location))
                    let next = try writer.get(key).map { [UInt8]($0) }
                    if let next { try writer.put(Keyspace.Metadata.sequence.key(number), next) }
                }
            }
            for (index, staged) in zip(entity.indexes, journal.indexes[entity.index]) where staged != 0 {
                var state = IndexState(entity: number, isUnique: index.isUnique, name: IndexState.name(index, entity))
                state.phase = isEmpty ? .readable : .writeOnly
                try writer.put(Keyspace.Metadata.indexState.key(staged), state.bytes)
            }
        }
        try StoreFormat.write(writer)
    }

    /// Replaces the source schema with the target schema. The target data is already written, and the obsolete source data is marked for removal.
    /// - Parameter version: The commit version of the migration.
    func finish(_ writer: any EngineWriter, _ identity: KeyValueStoreIdentity, version: UInt64) throws {
        try writeEntities(writer)
        try writeLinks(writer)
        try writeIndexes(writer)
        try writeSearchIndexes(writer)
        let schema = change.target.description.encoded()
        try SealedValue.put(Keyspace.Metadata.schema.key(1), schema, writer)
        try SealedValue.put(Keyspace.Metadata.identity.key(), identity.bytes, writer)
        try writer.put(StoreLayout.migrationKey, BigEndianInteger.bytes(version))
        try MigrationJournal.removeStagedMetadata(writer)
        try StoreFormat.write(writer)
    }

    private func writeEntities(_ writer: any EngineWriter) throws {
        let kept = Set(target.entities.values)
        for number in source.entities.values where !kept.contains(number) {
            for kind in [Keyspace.Metadata.entity, .sequence, .statistics] { try writer.remove(kind.key(number)) }
            try PendingRemoval.mark(.record, number, writer)
            try PendingRemoval.mark(.blobChunk, number, writer)
        }
        for (name, number) in target.entities { try writer.put(Keyspace.Metadata.entity.key(number), Array(name.utf8)) }
        for (entity, format) in source.formats {
            try writer.remove(Keyspace.Metadata.layout.key(entity))
            for number in format.old.keys { try writer.remove(Keyspace.Metadata.oldLayout.key(entity) + BigEndianInteger.bytes(number)) }
        }
        for (entity, format) in target.formats {
            try writer.put(Keyspace.Metadata.layout.key(entity), BigEndianInteger.bytes(format.number))
            for (number, old) in format.old {
                let bytes = old.bytes
                guard bytes.count <= NamedValue.longestValue else {
                    throw StoreError(
                        .unsupported,
                        "The values for new fields of an entity have \(bytes.count) bytes, and a migration of \(location) takes at most "
                            + "\(NamedValue.longestValue). Use shorter default values.", location: location)
                }
                try SealedValue.put(Keyspace.Metadata.oldLayout.key(entity) + BigEndianInteger.bytes(number), bytes, writer)
            }
        }
    }

    private func writeLinks(_ writer: any EngineWriter) throws {
        let kept = Set(target.links.values)
        for number in source.links.values where !kept.contains(number) {
            try writer.remove(Keyspace.Metadata.link.key(number))
            try PendingRemoval.mark(.link, number, writer)
            try PendingRemoval.mark(.linkInverse, number, writer)
        }
        for (name, number) in target.links { try writer.put(Keyspace.Metadata.link.key(number), Array(name.utf8)) }
        for number in source.reversedLinks { try writer.remove(Keyspace.Metadata.reversedLink.key(number)) }
        for number in target.reversedLinks { try writer.put(Keyspace.Metadata.reversedLink.key(number), []) }
    }

    private func writeIndexes(_ writer: any EngineWriter) throws {
        let kept = Set(target.indexes.values)
        for (name, number) in source.indexes where !kept.contains(number) {
            try writer.remove(Keyspace.Metadata.indexState.key(number))
            try writer.remove(Keyspace.Metadata.buildProgress.key(number))
            try PendingRemoval.mark(name.isUnique ? .uniqueIndex : .index, number, writer)
        }
        for (name, number) in target.indexes {
            let key = Keyspace.Metadata.indexState.key(number)
            guard let found = try writer.get(key).flatMap(IndexState.init) else {
                throw StoreError(.corrupt, "The state of an index of \(location) cannot be read.", location: location)
            }
            var state = IndexState(entity: name.entity, isUnique: name.isUnique, name: name.name)
            state.phase = found.phase
            state.holdsCutEntries = found.holdsCutEntries
            try writer.put(key, state.bytes)
        }
    }
}

extension AttributeType {
    /// The groups of types whose equal values have equal keys.
    fileprivate enum KeyEncoding {
        case flag, signed, unsigned, real, date, decimal, uuid, data, text
    }

    fileprivate var keyEncoding: KeyEncoding {
        switch self {
        case .bool: .flag
        case .uint64: .unsigned
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32: .signed
        case .float, .double: .real
        case .date: .date
        case .decimal: .decimal
        case .uuid: .uuid
        case .data: .data
        case .string, .url, .json: .text
        }
    }
}
