import PolyStoreBackend
import PolyStoreQuery

/// Opens or creates a store in an engine. Leaves all other contents unmodified.
struct KeyValueOpener {
    let handle: EngineHandle
    let request: OpenRequest
    private var engine: any OrderedEngine { handle.engine }

    /// The metadata of an existing store.
    private struct Contents {
        var metadata: StoreMetadata
        var identity: KeyValueStoreIdentity
        var catalog: Catalog
        let journal: MigrationJournal?
        /// ``StoreLayout/migration``.
        let migration: [UInt8]?
        /// A Boolean value that indicates whether the requested model differs in plain indexes, or in properties that are not stored.
        var hasOtherIndexes: Bool
    }

    func open() throws -> (StoreMetadata, StoreLayout) {
        if let found = try read() { return found }
        guard !request.isReadOnly else {
            throw StoreError(
                .notAStore, "\(engine.location) is empty; open it for writing to make a store of it.", location: engine.location)
        }
        var reset = StoreReset(engine)
        while true {
            do {
                if let opened = try handle.write({ try attempt($0, &reset) }) { return opened }
            } catch is UnfinishedMigration {
                try handle.endInterruptedMigration { _ in }
            }
        }
    }

    /// Runs one transaction of opening the store for writing.
    /// - Returns: `nil` if the reset of the store needs another transaction.
    private func attempt(_ writer: any EngineWriter, _ reset: inout StoreReset) throws -> (StoreMetadata, StoreLayout)? {
        if try StoreReset.isUnfinished(writer) {
            guard try reset.step(writer) else { return nil }
            return try create(writer)
        }
        // Checked again with the write lock held: another process may have created the store, or reset and filled it, since it was read.
        do {
            if var found = try contents(writer) {
                if found.hasOtherIndexes {
                    if found.journal != nil { throw UnfinishedMigration() }
                    try changeIndexes(&found, writer)
                }
                return try opened(found, resets: handle.resetCount)
            }
        } catch let error as StoreError where error.code == .migrationRequired && mayReset {
            if try writer.get(MigrationJournal.key) != nil { throw UnfinishedMigration() }
            request.logger.write(
                .notice, "The store \(engine.location) was written for another model and is emptied, as asked: \(error.message)")
            handle.countReset()
            guard try reset.begin(writer) else { return nil }
        }
        return try create(writer)
    }

    /// Replaces the schema of the store with one of the same data: other plain indexes, original names, defaults, delete rules or rules of attributes.
    private func changeIndexes(_ found: inout Contents, _ writer: any EngineWriter) throws {
        guard !handle.hasOtherUsers else {
            throw StoreError(
                .busy,
                "\(engine.location) is open in this process for a model with other indexes, original names, defaults, delete rules or rules of attributes. "
                    + "Close that store first.",
                location: engine.location)
        }
        request.logger.write(
            .notice,
            "The store \(engine.location) takes over a model of the same data with other indexes, original names, defaults, delete rules or rules of attributes."
        )
        found.identity.schemaHash = request.schema.versionHash
        found.metadata.schemaHash = request.schema.versionHash
        try IndexChange(schema: request.schema, location: engine.location).write(&found.catalog, found.identity, writer)
        found.hasOtherIndexes = false
    }

    private var mayReset: Bool { request.resetsOnModelMismatch && !request.isReadOnly }

    /// - Returns: `nil` for an empty engine, and for a store that must be written to before it can be used.
    private func read() throws -> (StoreMetadata, StoreLayout)? {
        // Before the snapshot: a reset in between then causes one superfluous check instead of a missed one.
        let resets = handle.resetCount
        let snapshot = try engine.snapshot()
        defer { snapshot.end() }
        if try StoreReset.isUnfinished(snapshot) {
            guard request.isReadOnly else { return nil }
            throw StoreError(
                .notAStore, "\(engine.location) was being emptied for another model; open it for writing to finish that.",
                location: engine.location)
        }
        do {
            guard let found = try contents(snapshot), request.isReadOnly || !found.hasOtherIndexes else { return nil }
            return try opened(found, resets: resets)
        } catch let error as StoreError where error.code == .migrationRequired && mayReset {
            return nil
        }
    }

    private func opened(_ found: Contents, resets: Int) throws -> (StoreMetadata, StoreLayout) {
        // Abandoned by the opening or by the first write transaction, unless a migration resumes it before.
        if found.journal != nil { handle.setHasJournal(true) }
        return (found.metadata, try layout(found.catalog, found.identity, found.migration, resets: resets))
    }

    /// Returns the existing contents; `nil` for an empty engine.
    private func contents(_ snapshot: any EngineSnapshot) throws -> Contents? {
        guard let value = try snapshot.get(Keyspace.Metadata.format.key()) else {
            let cursor = try snapshot.cursor()
            defer { cursor.close() }
            guard try !cursor.last() else {
                throw StoreError(
                    .notAStore, "\(engine.location) is not a store: it holds data of another program. It was left as it is.",
                    location: engine.location
                )
            }
            return nil
        }
        guard let format: UInt32 = BigEndianInteger.read(value), format > 0 else { throw damaged("its format") }
        guard format <= KeyValueBackend.format else {
            throw StoreError(
                .incompatibleSchema,
                "The store \(engine.location) has format \(format), and this version reads up to \(KeyValueBackend.format). Update the library.",
                location: engine.location)
        }
        guard let schema = try SealedValue.get(Keyspace.Metadata.schema.key(1), snapshot) else { throw damaged("its model") }
        guard let identity = try SealedValue.get(Keyspace.Metadata.identity.key(), snapshot).flatMap(KeyValueStoreIdentity.init) else {
            throw damaged("its identity")
        }
        var metadata = try StoreMetadata(
            format: Int(format), storeID: identity.storeID, configurationName: identity.configuration, schemaHash: identity.schemaHash,
            request: request, schema: schema)
        try metadata.check(request, supportedFormat: KeyValueBackend.format, location: engine.location, acceptsOtherIndexes: true)
        let journal = format > KeyValueBackend.plainFormat ? try MigrationJournal.read(snapshot, location: engine.location) : nil
        var catalog = try Catalog(reading: snapshot, format: format, journal: journal, location: engine.location)
        let hasOtherIndexes =
            try identity.schemaHash != request.schema.versionHash
            || request.schema.hasOtherSearchNames(than: { try SchemaDescription(encoded: schema) })
        // A read-only store works without its missing indexes.
        catalog.acceptsMissingIndexes = hasOtherIndexes && request.isReadOnly
        metadata.schema = request.schema.description
        return Contents(
            metadata: metadata, identity: identity, catalog: catalog, journal: journal,
            migration: try StoreLayout.migration(snapshot), hasOtherIndexes: hasOtherIndexes)
    }

    private func damaged(_ what: String) -> StoreError {
        StoreError(.corrupt, "The store \(engine.location) is damaged: \(what) cannot be read.", location: engine.location)
    }

    private func create(_ writer: any EngineWriter) throws -> (StoreMetadata, StoreLayout) {
        let hasSearchIndexes = request.schema.entities.contains { !$0.searchIndexes.isEmpty }
        let format = hasSearchIndexes ? KeyValueBackend.format : KeyValueBackend.plainFormat
        let metadata = StoreMetadata(format: format, request: request)
        let catalog = Catalog(request.schema)
        try writer.put(Keyspace.Metadata.format.key(), BigEndianInteger.bytes(UInt32(format)))
        try SealedValue.put(Keyspace.Metadata.schema.key(1), metadata.schema.encoded(), writer)
        let identity = KeyValueStoreIdentity(
            storeID: metadata.storeID, configuration: metadata.configurationName, schemaHash: metadata.schemaHash)
        let layout = try layout(catalog, identity, nil, resets: handle.resetCount)
        try SealedValue.put(Keyspace.Metadata.identity.key(), identity.bytes, writer)
        try catalog.write(to: writer)
        return (metadata, layout)
    }

    private func layout(_ catalog: Catalog, _ identity: KeyValueStoreIdentity, _ migration: [UInt8]?, resets: Int) throws -> StoreLayout {
        try StoreLayout(
            location: engine.location, traits: engine.traits, schema: request.schema, catalog: catalog, identity: identity,
            migration: migration, resets: resets)
    }
}
