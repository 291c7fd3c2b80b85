import PolyStoreBackend

/// Opens a store in an engine, or makes it; refuses everything else without touching it.
struct KeyValueOpener {
    let handle: EngineHandle
    let request: OpenRequest
    private var engine: any OrderedEngine { handle.engine }

    func open() throws -> (StoreMetadata, StoreLayout) {
        if let found = try read() { return found }
        guard !request.isReadOnly else {
            throw StoreError(
                .notAStore, "\(engine.place) is empty; open it for writing to make a store of it.", url: engine.place)
        }
        var reset = StoreReset(engine)
        while true {
            if let opened = try handle.write({ try attempt($0, &reset) }) { return opened }
        }
    }

    /// One transaction of opening the store for writing.
    /// - Returns: nil where emptying the store takes another transaction.
    private func attempt(_ writer: any EngineWriter, _ reset: inout StoreReset) throws -> (StoreMetadata, StoreLayout)? {
        if try StoreReset.isUnfinished(writer) {
            guard try reset.step(writer) else { return nil }
            return try create(writer)
        }
        // Judged again by the one who may write: others may have made the store, or emptied it and filled it anew, since it was read.
        do {
            if let found = try contents(writer, resets: handle.resetCount) { return found }
        } catch let error as StoreError where error.code == .migrationRequired && mayReset {
            request.logger.write(
                .notice, "The store \(engine.place) was written for another model and is emptied, as asked: \(error.message)")
            handle.countReset()
            guard try reset.begin(writer) else { return nil }
        }
        return try create(writer)
    }

    private var mayReset: Bool { request.resetsOnModelMismatch && !request.isReadOnly }

    /// - Returns: nil for nothing at all, and for a store that is to be emptied.
    private func read() throws -> (StoreMetadata, StoreLayout)? {
        // Before the snapshot: a reset in between is then one too many, which costs a look, and never one too few.
        let resets = handle.resetCount
        let snapshot = try engine.snapshot()
        defer { snapshot.end() }
        if try StoreReset.isUnfinished(snapshot) {
            guard request.isReadOnly else { return nil }
            throw StoreError(
                .notAStore, "\(engine.place) was being emptied for another model; open it for writing to finish that.", url: engine.place)
        }
        do {
            return try contents(snapshot, resets: resets)
        } catch let error as StoreError where error.code == .migrationRequired && mayReset {
            return nil
        }
    }

    /// What is there; nil for nothing at all.
    /// - Parameter resets: ``EngineHandle/resetCount``, taken no later than the snapshot.
    private func contents(_ snapshot: any EngineSnapshot, resets: Int) throws -> (StoreMetadata, StoreLayout)? {
        guard let value = try snapshot.get(Keyspace.Metadata.format.key()) else {
            let cursor = try snapshot.cursor()
            defer { cursor.close() }
            guard try !cursor.last() else {
                throw StoreError(
                    .notAStore, "\(engine.place) is no store: it holds data of somebody else. It was left as it is.", url: engine.place)
            }
            return nil
        }
        guard let format: UInt32 = Number.read(value), format > 0 else { throw damaged("its format") }
        guard format <= KeyValueBackend.format else {
            throw StoreError(
                .incompatibleSchema,
                "The store \(engine.place) has format \(format), and this version reads up to \(KeyValueBackend.format). Update the library.",
                url: engine.place)
        }
        guard let schema = try SealedValue.get(Keyspace.Metadata.schema.key(1), snapshot) else { throw damaged("its model") }
        guard let identity = try SealedValue.get(Keyspace.Metadata.identity.key(), snapshot).flatMap(StoreIdentity.init) else {
            throw damaged("its identity")
        }
        let metadata = try StoreMetadata(
            format: Int(format), storeID: identity.storeID, configurationName: identity.configuration, schemaHash: identity.schemaHash,
            request: request, schema: schema)
        try metadata.check(request, supportedFormat: KeyValueBackend.format, url: engine.place)
        let catalog = try Catalog(reading: snapshot, place: engine.place)
        return (metadata, try layout(catalog, identity, resets: resets))
    }

    private func damaged(_ what: String) -> StoreError {
        StoreError(.corrupt, "The store \(engine.place) is damaged: \(what) cannot be read.", url: engine.place)
    }

    private func create(_ writer: any EngineWriter) throws -> (StoreMetadata, StoreLayout) {
        let metadata = StoreMetadata(format: KeyValueBackend.format, request: request)
        let catalog = Catalog(request.schema)
        try writer.put(Keyspace.Metadata.format.key(), Number.bytes(UInt32(KeyValueBackend.format)))
        try SealedValue.put(Keyspace.Metadata.schema.key(1), metadata.schema.encoded(), writer)
        let identity = StoreIdentity(
            storeID: metadata.storeID, configuration: metadata.configurationName, schemaHash: metadata.schemaHash)
        let layout = try layout(catalog, identity, resets: handle.resetCount)
        try SealedValue.put(Keyspace.Metadata.identity.key(), identity.bytes, writer)
        try catalog.write(to: writer)
        return (metadata, layout)
    }

    private func layout(_ catalog: Catalog, _ identity: StoreIdentity, resets: Int) throws -> StoreLayout {
        try StoreLayout(
            place: engine.place, traits: engine.traits, schema: request.schema, catalog: catalog, identity: identity, resets: resets)
    }
}
