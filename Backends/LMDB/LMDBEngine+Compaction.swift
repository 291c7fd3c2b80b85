import CLMDB
import PolyStoreBackend
import PolyStoreKeyValue

// Compaction: the file is replaced by a copy without free pages while readers of the old file continue.
extension LMDBEngine {
    /// Copies the pages in use to a new file and puts it in the place of the store's. Call it without a write transaction of this process.
    ///
    /// LMDB's write lock is held from the copy to the replacement. The new file is open before it replaces the old one, so nothing that opening needs can be
    /// missing afterwards. Running readers keep the old file and its environment until they end.
    /// - Parameter replacing: Runs the replacement; see ``FileReplacingEngine``.
    /// - Throws: `busy` while another process has the file open; `full`, `io`. The store is then unchanged.
    func compact(replacing: (_ identity: String, _ replace: () throws -> Void) throws -> Void) throws {
        guard let writer = try beginWrite() as? LMDBWriter else { return }
        defer { writer.end() }
        var test = gate.withLock { lockTest }
        defer { gate.withLock { if lockTest == nil { lockTest = test } } }
        let file = opener.file
        if let names = try file.storePath.severalNames(removesTemporaryNames: true) {
            // The other names would keep the old file.
            throw file.storePath.error(names, what: "compacted", sideFiles: LMDBFile.sideFiles, options: nil)
        }
        // Before the copy, which can take long.
        try file.lockAgainstOthers(&test)
        file.unlockAgainstOthers(test)
        let environment = writer.environment
        let compacted = try file.makeCompacted(mode: options.fileMode) { descriptor in
            try LMDBResult.check(mdb_env_copyfd2(environment, descriptor, UInt32(MDB_CP_COMPACT)), "Compacting", location)
        }
        // After the replacement, the files have other names.
        defer { compacted.remove() }
        let identity = try compacted.storePath.identity()
        let opened = try open(compacted.storePath)
        var isReplaced = false
        defer { if !isReplaced { mdb_env_close(opened.environment) } }
        try withoutNewTransactions {
            try file.alone {
                try file.lockAgainstOthers(&test)
                do { try replacing(Self.registryName(identity)) { try file.replace(with: compacted) } } catch {
                    file.unlockAgainstOthers(test)
                    throw error
                }
                isReplaced = true
                retire(environment, test, by: opened, identity)
                test = nil
            }
        }
        try finishCompaction()
    }

    /// Opens the compacted file under its temporary name.
    func open(_ compacted: StorePath) throws -> LMDBEnvironment.Opened {
        let opener = LMDBEnvironment(file: LMDBFile(storePath: compacted), options: options, isReadOnly: false, isUnlocked: false)
        do {
            return try opener.openTemporary(mapSize: gate.withLock { environment.map { size(of: $0) } ?? options.mapSize })
        } catch let error as StoreError {
            throw StoreError(
                error.code, "The store \(location) is unchanged, because the compacted file cannot be opened: \(error.message)",
                location: location,
                engineCode: error.engineCode, underlying: error.underlying)
        }
    }

    /// Runs a closure while transactions that begin wait. Running ones continue.
    func withoutNewTransactions(_ body: () throws -> Void) rethrows {
        gate.withLock {
            while isChanging { gate.wait() }
            isChanging = true
        }
        defer {
            gate.withLock {
                isChanging = false
                gate.broadcast()
            }
        }
        try body()
    }

    /// The name of a file in the registry of open engines.
    static func registryName(_ identity: String) -> String { "lmdb:\(identity)" }

    /// Replaces the environment. That of the replaced file is kept for its readers.
    func retire(_ environment: OpaquePointer, _ lockTest: Int32?, by opened: LMDBEnvironment.Opened, _ identity: String) {
        gate.withLock {
            dropIdle()
            retired[generation] = RetiredEnvironment(environment: environment, lockTest: lockTest, running: running)
            mapSize = size(of: opened.environment)
            mappedPages.forget()
            self.identity = identity
            self.environment = opened.environment
            // A file that is missing by now is reported by the next commit.
            files = (try? WatchedFiles([location, location + "-lock"])) ?? files
            self.lockTest = nil
            generation += 1
            running = 0
            (isFlushed, isFolderUnflushed, replacement) = (false, true, nil)
        }
    }

    /// Makes the folder entries of the new files durable, which the next write transaction tries again if it fails.
    func finishCompaction() throws {
        try opener.file.storePath.flushFolder()
        gate.withLock { isFolderUnflushed = false }
    }
}

/// The environment of a file that compaction replaced, open until its last transaction ends.
struct RetiredEnvironment {
    let environment: OpaquePointer
    /// A descriptor of the old lock file.
    let lockTest: Int32?
    /// The number of transactions that use the environment.
    var running: Int

    func close() {
        mdb_env_close(environment)
        if let lockTest { LMDBFile.close(lockTest) }
    }
}
