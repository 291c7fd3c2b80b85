import PolyStoreBackend

/// Adopts a schema that differs from the stored one only in plain indexes and in properties that are not stored.
///
/// One small transaction writes the schema and its hash, marks the keys of obsolete indexes for removal, and makes the new indexes *write-only*;
/// ``BackgroundWork`` then builds them.
struct IndexChange {
    let schema: ResolvedSchema
    let location: String

    /// - Parameter catalog: The catalog of the store, which is updated.
    func write(_ catalog: inout Catalog, _ identity: KeyValueStoreIdentity, _ writer: any EngineWriter) throws {
        var wanted: [Catalog.IndexName: Index] = [:]
        for entity in schema.entities {
            let number = try catalog.number(of: entity, location)
            for index in entity.indexes { wanted[Catalog.IndexName(index, entity, number: number)] = index }
        }
        // Includes removed indexes, so that a number is not reused before its keys are removed.
        let removed = try PendingRemoval.all(writer).filter { [Keyspace.index.rawValue, Keyspace.uniqueIndex.rawValue].contains($0[0]) }
            .compactMap { prefix in
                prefix.withUnsafeBytes { BigEndianInteger.read(UnsafeRawBufferPointer(rebasing: $0[1...]), as: UInt32.self) }
            }
        var last = max(catalog.indexes.values.max() ?? 0, removed.max() ?? 0)
        for (name, number) in catalog.indexes where wanted[name] == nil {
            guard !name.isUnique else {
                throw StoreError(.corrupt, "The catalogue of \(location) has a unique index that its model has not.", location: location)
            }
            catalog.indexes[name] = nil
            try writer.remove(Keyspace.Metadata.indexState.key(number))
            try writer.remove(Keyspace.Metadata.buildProgress.key(number))
            try PendingRemoval.mark(.index, number, writer)
        }
        for name in wanted.keys.filter({ catalog.indexes[$0] == nil }).sorted(by: { ($0.entity, $0.name) < ($1.entity, $1.name) }) {
            guard !name.isUnique else {
                throw StoreError(.corrupt, "The catalogue of \(location) lacks a unique index.", location: location)
            }
            last += 1
            catalog.indexes[name] = last
            var state = IndexState(entity: name.entity, isUnique: false, name: name.name)
            state.phase = .writeOnly
            try writer.put(Keyspace.Metadata.indexState.key(last), state.bytes)
        }
        try writeSearchIndexes(&catalog, writer)
        try SealedValue.put(Keyspace.Metadata.schema.key(1), schema.description.encoded(), writer)
        try SealedValue.put(Keyspace.Metadata.identity.key(), identity.bytes, writer)
    }

    private func writeSearchIndexes(_ catalog: inout Catalog, _ writer: any EngineWriter) throws {
        let wanted = Set(schema.searchNames(catalog.entities))
        if wanted.isEmpty, catalog.searchIndexes.isEmpty { return }
        var number = try SearchIndexEntry.firstFree(catalog.searchIndexes.values, writer)
        for (name, number) in catalog.searchIndexes where !wanted.contains(name) {
            catalog.searchIndexes[name] = nil
            try SearchIndexEntry.drop(number, writer)
        }
        for name in wanted.filter({ catalog.searchIndexes[$0] == nil }).sorted(by: SearchIndexEntry.Name.precedes) {
            catalog.searchIndexes[name] = number
            try SearchIndexEntry(name, .building(through: nil)).write(number, writer)
            number += 1
        }
        try StoreFormat.write(writer)
    }
}
