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
        let shape = try snapshotShape(content)
        let fetch = try resolve(source.chain)
        if fetch.isMerged { return try fetchAll(source).map { try $0.snapshot(shape) } }
        let began = startTiming()
        defer { if began != 0 { endTiming(began, fetch) } }
        var found: [ObjectSnapshot<S.Entity>] = []
        for part in fetch.parts {
            let cursor = try open(part)
            defer { cursor.close() }
            var recorder = SnapshotRecorder(shape, part.entry, as: S.Entity.self)
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
