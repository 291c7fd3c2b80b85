import PolyStoreBackend
import PolyStoreKernel

extension Context {
    /// Returns the values of all objects that match, in order, without creating objects: Sendable, `Codable` values for other tasks, servers and tests.
    ///
    ///     let people = try await stack.read { try $0.fetchSnapshots(From<Person>().where(\.age > 30)) }
    ///     let data = try JSONEncoder().encode(people)
    ///
    /// - Parameters:
    ///   - source: The query and its order.
    ///   - content: The values that the snapshots contain.
    /// - Throws: Errors of a fetch, and `invalidPredicate` for a key path in the content that is not a stored attribute or to-one relationship.
    public final func fetchSnapshots<S: FetchSource>(
        _ source: S, content: SnapshotContent<S.Entity> = .all
    ) throws -> [ObjectSnapshot<S.Entity>] {
        beginReading()
        defer { endReading() }
        let shape = try snapshotShape(content)
        let fetch = try resolve(source.chain)
        if fetch.isMerged { return try fetchAll(source).map { try $0.snapshot(shape) } }
        return try limited(fetch.options) { try snapshots(fetch, shape) }
    }

    private func snapshots<T: Model>(_ fetch: ResolvedFetch, _ shape: SnapshotShape) throws -> [ObjectSnapshot<T>] {
        let began = startTiming()
        defer { if began != 0 { endTiming(began, fetch) } }
        var found: [ObjectSnapshot<T>] = []
        for part in fetch.parts {
            let cursor = try open(part)
            defer { cursor.close() }
            var recorder = SnapshotRecorder(shape, part.entry, as: T.self)
            while try cursor.next() {
                let record = shape.isEmpty ? [] : try recorder.bytes(of: cursor.record)
                found.append(
                    ObjectSnapshot(shape: shape, row: RowReference(entityIndex: part.entityIndex, rowID: cursor.rowID), record: record))
            }
        }
        return found
    }
}

extension FetchableSource {
    /// Returns the values of all objects that match, in order, without creating objects; see ``Context/fetchSnapshots(_:content:)``.
    public func fetchSnapshots<S: FetchSource>(
        _ source: S, content: SnapshotContent<S.Entity> = .all
    ) throws -> [ObjectSnapshot<S.Entity>] {
        try readingContext.fetchSnapshots(source, content: content)
    }
    public func fetchSnapshots<T>(
        _ from: From<T>, _ clauses: any FetchClause<T>..., content: SnapshotContent<T> = .all
    ) throws -> [ObjectSnapshot<T>] {
        try readingContext.fetchSnapshots(from.chain(clauses), content: content)
    }
    public func fetchSnapshots<T: Model>(
        _ type: T.Type, _ clauses: any FetchClause<T>..., content: SnapshotContent<T> = .all
    ) throws -> [ObjectSnapshot<T>] {
        try readingContext.fetchSnapshots(From<T>().chain(clauses), content: content)
    }
}

extension Context {
    /// Returns the shared description of snapshots of this context's objects.
    /// - Throws: `invalidPredicate` for a key path in the content that is not a stored attribute or to-one relationship.
    final func snapshotShape<T: Model>(_ content: SnapshotContent<T>) throws -> SnapshotShape {
        if let error = content.error { throw error }
        return SnapshotShape(table: table, fields: content.fields, logger: core.currentLogger)
    }

    /// Returns the stored values of an object, including pending changes of a transaction; `nil` if the object does not exist.
    ///
    /// The form for a caller that has an id; the same as ``Model/snapshot()`` of the object with the id.
    /// - Throws: `storeNotFound` for an id of another stack, `corrupt`, `closed`, `io`.
    public final func fetchSnapshot<T: Model>(_ id: ObjectID<T>) throws -> ObjectSnapshot<T>? {
        try fetchExisting(id)?.snapshot()
    }

    /// Returns the snapshots of objects, in the order of their ids. Objects that do not exist are omitted.
    /// - Throws: The errors of ``fetchSnapshot(_:)``.
    public final func fetchSnapshots<T: Model, S: Sequence<ObjectID<T>>>(_ ids: S) throws -> [ObjectSnapshot<T>] {
        let shape = try snapshotShape(SnapshotContent<T>.all)
        return try fetchExisting(ids).map { try $0.snapshot(shape) }
    }
}

extension Model {
    /// Returns the current values of the object, including pending changes of a transaction, as a Sendable value. A deleted object returns its last values.
    /// - Throws: `notFound` if the object is not in the store and its values were never read, `invalidValue` for a value that cannot be stored.
    public func snapshot() throws -> ObjectSnapshot<Self> { try snapshot(_$state.context.snapshotShape(SnapshotContent<Self>.all)) }

    func snapshot(_ shape: SnapshotShape) throws -> ObjectSnapshot<Self> {
        try withRecord { record, entry in
            var recorder = SnapshotRecorder(shape, entry, as: Self.self)
            return ObjectSnapshot(
                shape: shape, row: RowReference(entityIndex: entry.entityIndex, rowID: _$state.rowID),
                record: try recorder.bytes(of: record))
        }
    }
}

extension Context {
    /// Returns the values of rows in the form that snapshots keep. A row that is not in the store has the record of an object without values.
    final func records(of rows: [RowReference], _ type: any Model.Type, _ shape: SnapshotShape) throws -> [RowReference: [UInt8]] {
        guard !shape.isEmpty else { return [:] }
        var found: [RowReference: [UInt8]] = [:]
        found.reserveCapacity(rows.count)
        for (entityIndex, rows) in Dictionary(grouping: rows, by: \.entityIndex) {
            let entry = entry(entityIndex)
            var recorder = SnapshotRecorder(shape, entry, as: type)
            try readRecords(of: rows.map(\.rowID), entry, shape.fields) { id, record in
                found[RowReference(entityIndex: entityIndex, rowID: id)] = try recorder.bytes(of: record)
            }
            for row in rows where found[row] == nil { found[row] = try recorder.emptyBytes() }
        }
        return found
    }

    private func readRecords(
        of ids: [Int64], _ entry: StoreEntity, _ fields: FieldMask?, _ body: (Int64, RecordView) throws -> Void
    ) throws {
        let storage = try storage(entry.store)
        // Looking up one record is cheaper than a query; a query is cheaper than many lookups.
        guard ids.count > Self.lookups else {
            for id in ids { if let record = try storage.record(entry.entity, rowID: id) { try body(id, record) } }
            return
        }
        for start in stride(from: 0, to: ids.count, by: Self.batch) {
            let batch = ids[start..<min(start + Self.batch, ids.count)]
            var request = FetchRequest(entry.entity, predicate: .oneOf(.objectID, batch.map { .integer($0) }))
            request.fields = fields
            let cursor = try storage.fetch(request)
            defer { cursor.close() }
            while try cursor.next() { try body(cursor.rowID, cursor.record) }
        }
    }

    /// The maximum number of records that are looked up one by one.
    private static var lookups: Int { 8 }
    /// The maximum number of records per query.
    private static var batch: Int { 512 }
}
