import PolyStoreBackend

/// The stored description of an unfinished migration: its identity, and the numbers of everything that it creates.
///
/// Records, links and index entries under these numbers are not part of the store until the migration is committed.
struct MigrationJournal: Equatable {
    static let key = Keyspace.Metadata.migration.key()
    static let positionKey = Keyspace.Metadata.migrationPosition.key()

    /// ``SchemaChange/identifier``.
    var identifier: String
    /// ``ResolvedSchema/versionHash``.
    var sourceHash: String
    var targetHash: String
    /// The number of each target entity; 0 for a carried one.
    var entities: [UInt32]
    /// The number of each target link table; 0 for a carried one.
    var links: [UInt32]
    /// The number of each target index, by entity and position; 0 for a carried one.
    var indexes: [[UInt32]]

    var stagedEntities: [UInt32] { entities.filter { $0 != 0 } }
    var stagedLinks: [UInt32] { links.filter { $0 != 0 } }
    var stagedIndexes: Set<UInt32> { Set(indexes.joined().filter { $0 != 0 }) }

    /// The prefixes of all keys that the migration stages.
    var stagedPrefixes: [[UInt8]] {
        func prefixes(_ numbers: some Sequence<UInt32>, _ spaces: Keyspace...) -> [[UInt8]] {
            numbers.flatMap { number in spaces.map { [$0.rawValue] + BigEndianInteger.bytes(number) } }
        }
        return prefixes(stagedEntities, .record, .blobChunk) + prefixes(stagedIndexes, .index, .uniqueIndex)
            + prefixes(stagedLinks, .link, .linkInverse)
    }

    func isOf(_ change: SchemaChange) -> Bool {
        identifier == change.identifier && sourceHash == change.source.versionHash && targetHash == change.target.versionHash
            && entities.count == change.target.entities.count && links.count == change.target.links.count
            && zip(indexes, change.target.entities).allSatisfy { $0.count == $1.indexes.count }
    }

    // MARK: Metadata

    var bytes: [UInt8] {
        var writer = MetadataWriter()
        writer.append(identifier)
        writer.append(sourceHash)
        writer.append(targetHash)
        writer.append(entities) { $0.append($1) }
        writer.append(links) { $0.append($1) }
        writer.append(indexes) { $0.append($1) { $0.append($1) } }
        return writer.bytes
    }

    /// - Returns: `nil` for invalid bytes.
    init?(_ bytes: [UInt8]) {
        var reader = MetadataReader(bytes)
        guard let identifier = reader.text(), let source = reader.text(), let target = reader.text(),
            let entities = reader.list({ $0.number(UInt32.self) }), let links = reader.list({ $0.number(UInt32.self) }),
            let indexes = reader.list({ $0.list { $0.number(UInt32.self) } }), reader.isAtEnd
        else { return nil }
        self.init(
            identifier: identifier, sourceHash: source, targetHash: target, entities: entities, links: links, indexes: indexes)
    }

    init(identifier: String, sourceHash: String, targetHash: String, entities: [UInt32], links: [UInt32], indexes: [[UInt32]]) {
        (self.identifier, self.sourceHash, self.targetHash) = (identifier, sourceHash, targetHash)
        (self.entities, self.links, self.indexes) = (entities, links, indexes)
    }

    /// Reads the journal of a store; `nil` if no migration is unfinished.
    /// - Throws: `corrupt`.
    static func read(_ snapshot: any EngineSnapshot, location: String) throws -> MigrationJournal? {
        guard let stored = try snapshot.get(key) else { return nil }
        guard let journal = SealedValue.opened(key, stored).flatMap(MigrationJournal.init) else {
            throw StoreError(.corrupt, "The store \(location) is damaged: the journal of a migration cannot be read.", location: location)
        }
        return journal
    }

    /// Abandons the migration: one small transaction removes the journal and marks all staged keys for removal.
    static func abandon(_ writer: any EngineWriter, location: String) throws {
        guard let journal = try read(writer, location: location) else { return }
        for number in journal.stagedEntities {
            try writer.remove(Keyspace.Metadata.sequence.key(number))
            try writer.remove(Keyspace.Metadata.statistics.key(number))
            try PendingRemoval.mark(.record, number, writer)
            try PendingRemoval.mark(.blobChunk, number, writer)
        }
        for number in journal.stagedLinks {
            try PendingRemoval.mark(.link, number, writer)
            try PendingRemoval.mark(.linkInverse, number, writer)
        }
        for number in journal.stagedIndexes {
            try writer.remove(Keyspace.Metadata.indexState.key(number))
            try writer.remove(Keyspace.Metadata.buildProgress.key(number))
            try PendingRemoval.mark(.index, number, writer)
            try PendingRemoval.mark(.uniqueIndex, number, writer)
        }
        try removeStagedMetadata(writer)
        try StoreFormat.write(writer)
    }

    /// Removes the journal, the saved position and the staged named values.
    static func removeStagedMetadata(_ writer: any EngineWriter) throws {
        try writer.remove(key)
        try writer.remove(positionKey)
        var names: [[UInt8]] = []
        try writer.forEachKey(.migrationValue) { key, _ in names.append([UInt8](key)) }
        for name in names { try writer.remove(name) }
    }
}
