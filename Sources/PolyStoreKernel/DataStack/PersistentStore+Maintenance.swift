import Dispatch
import PolyStoreBackend
import PolyStoreRuns

extension PersistentStore {
    /// Checks the integrity of the store and returns a description of each problem found.
    ///
    /// Reads the whole store on a thread of PolyStore. The calling task waits for it without blocking a thread, and cancels it if the task is cancelled.
    /// - Throws: `unsupported` for a backend without the feature `verification`, `closed`, `corrupt`, `io`, `cancelled`.
    public func verify() async throws -> [String] { try await value(of: verification) }

    /// Starts a check of the integrity of the store and returns a handle for it, which reports the progress; see ``verify()``.
    public func startVerification() -> MaintenanceRun<[String]> { start(verification) }

    private var verification: MaintenanceWork<[String]> {
        MaintenanceWork("Verifying \(location)", name: "verification of \(location)") { [backend] in try backend.verify(reporting: $0) }
    }

    /// Checks the integrity of the store, blocking the caller's thread while the whole store is read; see ``verify()``.
    public func verifyAndWait() throws -> [String] { try backend.verify() }

    /// Counts the objects of the store at its newest version and determines the size of its files.
    ///
    /// Takes time proportional to the number of objects if the backend does not maintain their count. Runs on a thread of PolyStore. The calling task waits for
    /// it without blocking a thread.
    /// - Throws: `closed`, `corrupt`, `io`.
    public func statistics() async throws -> StoreStatistics { try await onMaintenanceThread { try $0.statisticsAndWait() } }

    /// Counts the objects of the store, blocking the caller's thread; see ``statistics()``.
    public func statisticsAndWait() throws -> StoreStatistics {
        let (sessions, holders) = (backend.readSessions, try backend.snapshotHolders())
        let reader = try backend.beginRead()
        defer { reader.end() }
        var counts: [String: Int] = [:]
        for entity in schema.entities {
            guard let classifier = entity.classifierField else {
                counts[entity.name] = try reader.count(FetchRequest(entity))
                continue
            }
            let request = AggregateRequest(
                entity, predicate: .all,
                groupBy: [FieldReference(index: classifier, name: entity.fields[classifier].name, type: entity.fields[classifier].type)],
                aggregates: [.count])
            for row in try reader.aggregate(request) {
                if case .text(let name)? = row.group.first, case .integer(let count)? = row.values.first { counts[name] = Int(count) }
            }
        }
        let size = try configuration.files.reduce(0) { try $0 + StorePath(path: $1).size() }
        return StoreStatistics(version: try reader.version, objectCounts: counts, fileSize: size, readSessions: sessions, holders: holders)
    }

    /// Writes a copy of the store at its newest version to another path, while the store is in use. The copy can be opened like any other store.
    ///
    /// Runs on a thread of PolyStore. The calling task waits for the complete copy without blocking a thread, and cancels it if the task is cancelled.
    /// - Parameter path: A path without a file or folder, in an existing folder. For a store on a server the URL of the copy, in the form that the store's own URL has.
    /// - Throws: `unsupported` for a backend without the feature `copying`, `io` if the path already exists, `full`, `cancelled`.
    public func backUp(to path: String) async throws { try await value(of: backUpWork(path)) }

    /// Starts a copy of the store and returns a handle for it, which reports the progress; see ``backUp(to:)``.
    public func startBackUp(to path: String) -> MaintenanceRun<Void> { start(backUpWork(path)) }

    private func backUpWork(_ path: String) -> MaintenanceWork<Void> {
        let destination = copyLocation(path)
        // Without the password of a URL.
        let shown = configuration.remote == nil ? path : "another URL"
        return MaintenanceWork("Copying \(location) to \(shown)", name: "copy of \(location) to \(shown)") { [backend] in
            try backend.copy(to: destination, reporting: $0)
        }
    }

    /// Returns what the backend is given for a path, or for the URL of a copy on a server.
    private func copyLocation(_ path: String) -> String { configuration.remote == nil ? StorePath.resolve(path) : path }

    /// Writes a copy of the store, blocking the caller's thread until the copy is complete; see ``backUp(to:)``.
    public func backUpAndWait(to path: String) throws { try backend.copy(to: copyLocation(path)) }

    /// Returns the disk space of deleted objects to the file system while the store is in use, if the backend supports it.
    ///
    /// Writers are blocked until it finishes; on LevelDB and in memory they are not. LMDB replaces the file by a copy without free pages: the old file takes space
    /// until its readers have ended, and a store that another process has open is not compacted. Runs on a thread of PolyStore. The calling task waits for it
    /// without blocking a thread.
    /// - Throws: `unsupported` for a backend without the feature `compaction`, `busy` if another process uses the store, `full`.
    public func compact() async throws { try await onMaintenanceThread { try $0.compactAndWait() } }

    /// Returns disk space to the file system, blocking the caller's thread until the file is rewritten; see ``compact()``.
    public func compactAndWait() throws { try backend.compact() }

    /// The threads of maintenance. A dispatch queue, because a backend blocks and must not block Swift's cooperative threads.
    private static let maintenanceQueue = DispatchQueue(label: "polystore.maintenance", qos: .utility, attributes: .concurrent)

    private func start<Value>(_ work: MaintenanceWork<Value>) -> MaintenanceRun<Value> {
        Self.maintenanceQueue.async { work.execute() }
        return work.run
    }

    /// Executes an operation and returns its result. Cancels it if the calling task is cancelled.
    private func value<Value>(of work: MaintenanceWork<Value>) async throws -> Value {
        if Task.isCancelled { work.run.cancel() }
        let run = start(work)
        return try await withTaskCancellationHandler {
            try await run.value
        } onCancel: {
            run.cancel()
        }
    }

    private func onMaintenanceThread<T: Sendable>(_ work: @escaping @Sendable (PersistentStore) throws -> T) async throws -> T {
        try await Self.maintenanceQueue.awaiting { [self] in try work(self) }
    }
}

extension DataStack {
    /// Writes a copy of every store while the stack is in use; see ``PersistentStore/backUp(to:)``.
    ///
    /// Runs on a thread of the stack. The calling task waits for the complete copies without blocking a thread.
    /// - Parameter path: The path of the copy of a single store. With several stores, the name of each store's configuration is appended.
    /// - Returns: The paths of the copies, in the order of ``stores``.
    @discardableResult
    public func backUp(to path: String) async throws -> [String] {
        let copies = copies(to: path)
        try await core.awaitingBatchThread { for copy in copies { try copy.store.backUpAndWait(to: copy.path) } }
        return copies.map(\.path)
    }

    /// Writes a copy of every store, blocking the caller's thread until the copies are complete; see ``backUp(to:)``.
    @discardableResult
    public func backUpAndWait(to path: String) throws -> [String] {
        let copies = copies(to: path)
        for copy in copies { try copy.store.backUpAndWait(to: copy.path) }
        return copies.map(\.path)
    }

    /// Returns the stores and the paths of their copies.
    private func copies(to path: String) -> [(store: PersistentStore, path: String)] {
        let stores = stores
        return stores.map { ($0, stores.count == 1 ? path : "\(path)-\($0.configurationName ?? "default")") }
    }
}
