import PolyStoreBackend
import PolyStoreQuery

/// The stored names of the numbers in keys. Numbers are assigned in the order of names, so that two stores of one model are equal regardless of the declaration
/// order of entities.
struct Catalog: Sendable {
    struct IndexName: Hashable, Sendable {
        let entity: UInt32
        let isUnique: Bool
        /// ``IndexState/name``.
        let name: String

        init(_ state: IndexState) {
            entity = state.entity
            isUnique = state.isUnique
            name = state.name
        }

        init(_ index: Index, _ entity: Entity, number: UInt32) {
            self.entity = number
            isUnique = index.isUnique
            name = IndexState.name(index, entity)
        }
    }

    /// The number of an index that the store does not have yet.
    static let missingIndex: UInt32 = 0

    var entities: [String: UInt32] = [:]
    var indexes: [IndexName: UInt32] = [:]
    var links: [String: UInt32] = [:]
    var searchIndexes: [SearchIndexEntry.Name: UInt32] = [:]
    /// The record layouts, by entity number; entities without an entry have only layout 0.
    var formats: [UInt32: StoredRecordFormat] = [:]
    /// The numbers of link tables whose sources and targets are exchanged.
    var reversedLinks: Set<UInt32> = []
    /// A Boolean value that indicates whether an index without a number gets ``missingIndex`` instead of counting as damage.
    var acceptsMissingIndexes = false

    /// A Boolean value that indicates whether full-text indexes without a number are left out: a migration creates them with its commit.
    var omitsNewSearchIndexes = false

    /// Creates an empty catalog.
    init() {}

    /// Creates the catalog of a new store.
    init(_ schema: ResolvedSchema) {
        for (number, entity) in schema.entities.sorted(by: { $0.name < $1.name }).enumerated() {
            entities[entity.name] = UInt32(number + 1)
            let names = entity.indexes.map { IndexName($0, entity, number: UInt32(number + 1)) }
            for name in names.sorted(by: { $0.name < $1.name }) { indexes[name] = UInt32(indexes.count + 1) }
        }
        addSearchIndexes(of: schema)
        for (number, table) in schema.links.sorted(by: { $0.name < $1.name }).enumerated() { links[table.name] = UInt32(number + 1) }
    }

    /// Reads the catalog of a store.
    /// - Throws: `corrupt` for invalid entries.
    /// - Parameter journal: The journal of an unfinished migration, whose indexes are not part of the store yet.
    init(reading snapshot: any EngineSnapshot, format: UInt32, journal: MigrationJournal?, location: String) throws {
        let damaged = StoreError(.corrupt, "The catalogue of \(location) is damaged.", location: location)
        let staged = journal?.stagedIndexes ?? []
        try snapshot.forEach(.entity) { number, value in entities[String(decoding: value, as: UTF8.self)] = number }
        try snapshot.forEach(.link) { number, value in links[String(decoding: value, as: UTF8.self)] = number }
        try snapshot.forEach(.indexState) { number, value in
            guard !staged.contains(number) else { return }
            guard let state = IndexState(value) else { throw damaged }
            indexes[IndexName(state)] = number
        }
        if format > KeyValueBackend.plainFormat { try readLayouts(snapshot, damaged) }
        if format > KeyValueBackend.migratedFormat {
            for (number, entry) in try SearchIndexEntry.all(snapshot, location: location) { searchIndexes[entry.name] = number }
        }
    }

    private mutating func addSearchIndexes(of schema: ResolvedSchema) {
        for name in Set(schema.searchNames(entities)).sorted(by: SearchIndexEntry.Name.precedes) {
            searchIndexes[name] = UInt32(searchIndexes.count + 1)
        }
    }

    private mutating func readLayouts(_ snapshot: any EngineSnapshot, _ damaged: StoreError) throws {
        let names = Dictionary(entities.map { ($0.value, $0.key) }, uniquingKeysWith: { first, _ in first })
        try snapshot.forEach(.layout) { entity, value in
            guard let number: UInt16 = BigEndianInteger.read(value) else { throw damaged }
            formats[entity, default: StoredRecordFormat()].number = number
        }
        try snapshot.forEachKey(.oldLayout) { key, value in
            guard key.count == 8, let old = SealedValue.opened([UInt8](key), value) else { throw damaged }
            let entity = UInt32(bigEndian: key.loadUnaligned(fromByteOffset: 2, as: UInt32.self))
            let number = UInt16(bigEndian: key.loadUnaligned(fromByteOffset: 6, as: UInt16.self))
            guard let old = OldLayout(names[entity] ?? "?", old) else { throw damaged }
            formats[entity, default: StoredRecordFormat()].old[number] = old
        }
        try snapshot.forEach(.reversedLink) { number, _ in reversedLinks.insert(number) }
    }

    func write(to writer: any EngineWriter) throws {
        for (name, number) in entities { try writer.put(Keyspace.Metadata.entity.key(number), Array(name.utf8)) }
        for (name, number) in links { try writer.put(Keyspace.Metadata.link.key(number), Array(name.utf8)) }
        for (name, number) in searchIndexes { try SearchIndexEntry(name, .complete).write(number, writer) }
        for (index, number) in indexes {
            try writer.put(
                Keyspace.Metadata.indexState.key(number), IndexState(entity: index.entity, isUnique: index.isUnique, name: index.name).bytes
            )
        }
    }

    /// Returns the full-text indexes of the store that a model has.
    /// - Throws: `corrupt` if one is missing.
    func searchIndexes(of schema: ResolvedSchema, _ location: String) throws -> [StoredSearchIndex] {
        var found: [StoredSearchIndex] = []
        for entity in schema.entities {
            for index in entity.searchIndexes {
                let name = SearchIndexEntry.Name(index, entity: try number(of: entity, location))
                guard let number = searchIndexes[name] else {
                    if acceptsMissingIndexes || omitsNewSearchIndexes { continue }
                    throw missing("the index \(index.plainName)", location)
                }
                let stored = StoredSearchIndex(number: number, entity: entity.index, fields: index.fields, options: index.options)
                if !found.contains(stored) { found.append(stored) }
            }
        }
        return found
    }

    private func missing(_ what: String, _ location: String) -> StoreError {
        StoreError(.corrupt, "\(location) has no number for \(what); its catalogue is damaged.", location: location)
    }

    func number(of entity: Entity, _ location: String) throws -> UInt32 {
        guard let number = entities[entity.name] else { throw missing("the entity \(entity.name)", location) }
        return number
    }

    /// Returns the record layouts of an entity.
    func format(of entity: Entity, _ location: String) throws -> StoredRecordFormat {
        guard !formats.isEmpty, let format = formats[try number(of: entity, location)] else { return StoredRecordFormat() }
        guard format.old[format.number] == nil, format.old.values.allSatisfy({ $0.fits(entity) }) else {
            throw missing("the layouts of \(entity.name)", location)
        }
        return format
    }

    func number(of table: LinkTable, _ location: String) throws -> UInt32 {
        guard let number = links[table.name] else {
            if let shared = table.sharedName, links[shared] != nil { throw table.mixedTablesError(path: location) }
            throw missing("the relationship \(table.name)", location)
        }
        return number
    }

    func number(of index: Index, _ entity: Entity, _ location: String) throws -> UInt32 {
        guard let number = indexes[IndexName(index, entity, number: try number(of: entity, location))] else {
            if acceptsMissingIndexes, !index.isUnique { return Self.missingIndex }
            throw missing("the index \(index.name)", location)
        }
        return number
    }
}

extension ResolvedSchema {
    /// Returns the names of the full-text indexes in a store.
    /// - Parameter numbers: The numbers of the entities.
    func searchNames(_ numbers: [String: UInt32]) -> [SearchIndexEntry.Name] {
        entities.flatMap { entity in
            entity.searchIndexes.map { SearchIndexEntry.Name($0, entity: numbers[entity.name] ?? 0) }
        }
    }
}

extension EngineSnapshot {
    /// Calls a closure with every entry of a metadata kind.
    func forEachKey(_ kind: Keyspace.Metadata, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void) throws {
        let cursor = try cursor()
        defer { cursor.close() }
        let prefix = [Keyspace.metadata.rawValue, kind.rawValue]
        try prefix.withUnsafeBytes { prefix in
            var more = try cursor.seek(prefix)
            while more, cursor.key.starts(with: prefix) {
                try body(cursor.key, cursor.value)
                more = try cursor.next()
            }
        }
    }

    /// Calls a closure with every numbered entry of a metadata kind.
    func forEach(_ kind: Keyspace.Metadata, _ body: (UInt32, UnsafeRawBufferPointer) throws -> Void) throws {
        try forEachKey(kind) { key, value in
            if let number: UInt32 = BigEndianInteger.read(UnsafeRawBufferPointer(rebasing: key[2...])) { try body(number, value) }
        }
    }
}
