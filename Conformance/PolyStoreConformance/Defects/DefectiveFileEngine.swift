import Foundation
import PolyStoreBackend
import PolyStoreKeyValue

/// A simple engine with a defect: all keys are in memory, and every batch rewrites the whole file.
///
/// The file consists of a magic number and blocks of up to 16 entries, each preceded by its length and its CRC-32C.
final class DefectiveFileEngine: OrderedEngine, @unchecked Sendable {  // All mutable state is accessed under the lock.
    private static let magic = Array("PolyStore defective engine\n".utf8)

    let location: String
    let traits = EngineTraits(features: [.persistence, .fullDurability, .copying], checksumsRecords: false)
    let defect: EngineDefect
    private let file: Int32
    private let lock = Lock(.engine)
    private var tree = OrderedTree()
    private var hasUnwritten = false
    /// The number of batches and of flushes, for the engines that skip some of them.
    private var (batches, flushes) = (0, 0)
    /// The number of open snapshots, for the engine whose writer waits for them.
    private var openSnapshots = 0
    /// The number of ended snapshots that were not released, for the engine that then never reclaims space.
    private var keptSnapshots = 0

    init(path: String, _ defect: EngineDefect) throws {
        location = path
        self.defect = defect
        var fileStorePath = StorePath(path: path)
        if defect.usesFolder {
            let folder = StorePath(path: path)
            fileStorePath = StorePath(path: path + "/data")
            switch try folder.kind() {
            case .absent: guard mkdir(path, 0o700) == 0 else { throw folder.refused("The folder cannot be made", errno) }
            case .directory:
                let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
                guard names.isEmpty || names.contains("data") || defect == .takesForeignFolder else { throw Self.foreign(path) }
            default: throw Self.foreign(path)
            }
            if defect == .openFolderMode { chmod(path, 0o755) }
        } else if case .directory = try fileStorePath.kind() {
            throw Self.foreign(path)
        }
        // Without a lock, because one of the defects opens a store twice.
        file = open(fileStorePath.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw fileStorePath.refused("The file cannot be opened", errno) }
        if defect == .openFileMode { fchmod(file, 0o644) }
        do { try read() } catch {
            Foundation.close(file)
            throw error
        }
        removeInterruptedCopies()
    }

    private func removeInterruptedCopies() {
        switch defect {
        case .keepsInterruptedCopies: break
        case .removesCopiesInUse:
            let folder = URL(fileURLWithPath: location).deletingLastPathComponent().path
            for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] where name.hasSuffix(".partial") {
                unlink(folder + "/" + name)
            }
        default: StorePath(path: location).removeLeftovers()
        }
    }

    private static func foreign(_ path: String) -> StoreError {
        StoreError(.notAStore, "\(path) is not a store of this engine. It was left as it is.", location: path)
    }

    // MARK: The file

    private func read() throws {
        let size = Int(lseek(file, 0, SEEK_END))
        var bytes = [UInt8](repeating: 0, count: size)
        guard pread(file, &bytes, size, 0) == size else {
            throw StoreError(.io, "The file of \(location) cannot be read.", location: location)
        }
        guard size > 0 else { return }
        guard bytes.starts(with: Self.magic) else { throw Self.foreign(location) }
        var offset = Self.magic.count
        while offset + 8 <= size {
            let (length, sum) = bytes.withUnsafeBytes {
                (
                    Int($0.loadUnaligned(fromByteOffset: offset, as: UInt32.self)),
                    $0.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                )
            }
            let isWhole =
                offset + 8 + length <= size && bytes[(offset + 8)..<(offset + 8 + length)].withUnsafeBytes(RecordChecksum.crc32c) == sum
            if isWhole {
                _ = bytes[(offset + 8)..<(offset + 8 + length)].withUnsafeBytes { tree.apply(encoded: $0) }
            } else if defect != .skipsDamagedBlocks {
                throw StoreError(.corrupt, "\(location) is damaged at byte \(offset).", location: location)
            }
            offset += 8 + length
        }
        guard offset == size || defect == .skipsDamagedBlocks else {
            throw StoreError(.corrupt, "\(location) is cut short.", location: location)
        }
    }

    private func write(_ tree: OrderedTree, flushes: Bool) throws {
        var bytes = Self.magic
        var block = OrderedTree()
        func endBlock() {
            if block.isEmpty { return }
            var encoded: [UInt8] = []
            WriteBatch(block).encode(into: &encoded)
            withUnsafeBytes(of: UInt32(encoded.count)) { bytes += $0 }
            withUnsafeBytes(of: encoded.withUnsafeBytes(RecordChecksum.crc32c)) { bytes += $0 }
            bytes += encoded
            block = OrderedTree()
        }
        WriteBatch(tree).visit { key, value in
            block.set(key, value)
            if block.count == 16 { endBlock() }
        }
        endBlock()
        let written = pwrite(file, bytes, bytes.count, 0)
        guard written == bytes.count, ftruncate(file, off_t(bytes.count)) == 0 else {
            throw StorePath(path: location).refused("The file cannot be written", written < 0 ? errno : ENOSPC)
        }
        if flushes { try flush() }
    }

    private func flush() throws {
        flushes += 1
        if defect == .neverFlushes || defect == .skipsTheTenthFlush && flushes % 10 == 0 { return }
        try StorePath(path: location).flush(file)
    }

    /// Appends a batch to the file, so that earlier versions stay in it.
    private func append(_ batch: WriteBatch, flushes: Bool) throws {
        var encoded: [UInt8] = []
        batch.encode(into: &encoded)
        var bytes: [UInt8] = []
        withUnsafeBytes(of: UInt32(encoded.count)) { bytes += $0 }
        withUnsafeBytes(of: encoded.withUnsafeBytes(RecordChecksum.crc32c)) { bytes += $0 }
        bytes += encoded
        guard pwrite(file, bytes, bytes.count, lseek(file, 0, SEEK_END)) == bytes.count else {
            throw StorePath(path: location).refused("The file cannot be written", errno)
        }
        if flushes { try flush() }
    }

    // MARK: The engine

    func snapshot() -> any EngineSnapshot {
        lock.withLock {
            openSnapshots += 1
            return DefectiveSnapshot(self, tree, batchCount: batches)
        }
    }

    func current() -> OrderedTree { lock.withLock { tree } }

    /// The number of batches so far.
    var batchCount: Int { lock.withLock { batches } }

    func snapshotEnded(isKept: Bool) {
        lock.withLock {
            if isKept { keptSnapshots += 1 }
            openSnapshots -= 1
            lock.broadcast()
        }
    }

    func apply(_ batch: WriteBatch, _ durability: Durability) throws {
        switch defect {
        case .snapshotWaits: try lock.withLock { try apply(batch, durability, to: tree) { tree = $0 } }
        case .writerWaits:
            lock.withLock { while openSnapshots > 0 { lock.wait() } }
            try apply(batch, durability, to: current()) { new in lock.withLock { tree = new } }
        default: try apply(batch, durability, to: current()) { new in lock.withLock { tree = new } }
        }
    }

    private func apply(_ batch: WriteBatch, _ durability: Durability, to old: OrderedTree, publish: (OrderedTree) -> Void) throws {
        if defect != .snapshotWaits { lock.withLock { batches += 1 } }
        if defect == .swallowsABatch, batches == 1000 { return }
        var new = old
        var visited = 0
        // What the engine writes before the rest of the batch.
        var early = old
        batch.visit { key, value in
            if let value { new.set(key, value) } else { remove(key, from: &new) }
            if defect == .tearsBatches { publish(new) }
            visited += 1
            let isHalf = batch.byteCount > 256 << 10 && visited <= batch.count / 2
            if defect == .showsHalfBatches, batch.byteCount > 256 << 10, visited == batch.count / 2 { publish(new) }
            let isValue = key.starts(with: [Keyspace.metadata.rawValue, Keyspace.Metadata.value.rawValue])
            if defect == .splitsBigBatches && isHalf || defect == .writesValuesApart && !isValue {
                if let value { early.set(key, value) } else { early.remove(key) }
            }
        }
        if defect == .splitsBigBatches && batch.byteCount > 256 << 10 || defect == .writesValuesApart {
            try write(early, flushes: durability == .full)
        }
        if defect == .keepsSnapshots, lock.withLock({ keptSnapshots > 0 }), lseek(file, 0, SEEK_END) > 0 {
            try append(batch, flushes: durability == .full)
            publish(new)
            return
        }
        if defect == .keepsRelaxedInMemory, durability == .relaxed {
            hasUnwritten = true
        } else {
            try write(new, flushes: durability == .full)
            hasUnwritten = false
        }
        publish(new)
    }

    private func remove(_ key: UnsafeRawBufferPointer, from tree: inout OrderedTree) {
        if !tree.remove(key), defect == .removesNeighbour, let next = neighbours(of: key, in: tree).first {
            _ = next.withUnsafeBytes { tree.remove($0) }
        }
        if defect == .removesPrefix {
            for next in neighbours(of: key, in: tree).prefix(while: { $0.starts(with: key) }) {
                _ = next.withUnsafeBytes { tree.remove($0) }
            }
        }
    }

    /// Returns the keys next to a key.
    private func neighbours(of key: UnsafeRawBufferPointer, in tree: OrderedTree) -> [[UInt8]] {
        var keys: [[UInt8]] = []
        let cursor = tree.makeCursor()
        var more = (try? cursor.seek(key)) ?? false
        while more, keys.count < 100 {
            keys.append([UInt8](cursor.key))
            more = (try? cursor.next()) ?? false
        }
        return keys
    }

    func copy(to path: String, reporting report: MaintenanceReport) throws {
        let target = StorePath(path: path)
        guard try target.kind() == .absent else {
            throw StoreError(.io, "Cannot copy to \(path): there is a file or folder.", location: path)
        }
        let temporary = try TemporaryEntry(beside: target, isFolder: defect.usesFolder, mode: defect.usesFolder ? 0o700 : 0o600)
        defer { temporary.remove() }
        let copy = try DefectiveFileEngine(path: temporary.storePath.path, defect.usesFolder ? .noneInAFolder : .none)
        do {
            try report(MaintenanceProgress(activity: "bytes"))
            try copy.write(current(), flushes: true)
        } catch {
            copy.close()
            throw error
        }
        copy.close()
        guard rename(temporary.storePath.path, path) == 0 else { throw target.refused("The copy cannot be named", errno) }
        temporary.end()
        try target.flushFolder()
    }

    func close() {
        if hasUnwritten { try? write(current(), flushes: true) }
        Foundation.close(file)
    }
}

/// A snapshot of the engine, as far as its defect allows.
private final class DefectiveSnapshot: EngineSnapshot {
    /// The key of the commit version of the last migration.
    private static let lastMigration: [UInt8] = [Keyspace.metadata.rawValue, Keyspace.Metadata.schema.rawValue, 0, 0, 0, 0]

    private let engine: DefectiveFileEngine
    private var tree: OrderedTree?
    private var isEnded = false
    /// A Boolean value that indicates whether the snapshot was read after a later write, for the engine that then keeps it.
    private var isOutdated = false
    private let batchCount: Int

    init(_ engine: DefectiveFileEngine, _ tree: OrderedTree, batchCount: Int) {
        self.engine = engine
        self.batchCount = batchCount
        self.tree = engine.defect == .lazySnapshot ? nil : tree
    }

    deinit { end() }

    private func version() throws -> OrderedTree {
        if isEnded, engine.defect != .readsEndedSnapshots {
            throw StoreError(.closed, "The snapshot of \(engine.location) has ended.", location: engine.location)
        }
        if engine.defect == .keepsSnapshots, engine.batchCount > batchCount { isOutdated = true }
        if let tree { return tree }
        let now = engine.current()
        tree = now
        return now
    }

    func get(_ key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer? {
        if engine.defect == .missesOneKey, RecordChecksum.crc32c(key) % 1024 == 0 { return nil }
        if engine.defect == .forgetsMigrations, key.elementsEqual(Self.lastMigration) { return nil }
        return try version().value(of: key)
    }
    func cursor() throws -> EngineCursor { DefectiveCursor(try version(), engine.defect) }

    func end() {
        guard !isEnded else { return }
        isEnded = true
        engine.snapshotEnded(isKept: isOutdated)
    }
}

private final class DefectiveCursor: EngineCursor {
    private let inner: EngineCursor
    private let defect: EngineDefect

    init(_ tree: OrderedTree, _ defect: EngineDefect) {
        inner = tree.makeCursor()
        self.defect = defect
        super.init()
    }

    private func setEntry(_ isThere: Bool) -> Bool {
        if isThere { setCurrent(inner.key, inner.value) }
        return isThere
    }

    override func seek(_ key: UnsafeRawBufferPointer) throws -> Bool {
        defect == .emptySeekFindsNothing && key.isEmpty ? false : setEntry(try inner.seek(key))
    }

    override func last() throws -> Bool {
        guard defect == .lastOfTheFirstRange else { return setEntry(try inner.last()) }
        guard try [UInt8]().withUnsafeBytes({ try inner.seek($0) }), let first = inner.key.first, first < 255 else {
            return setEntry(try inner.last())
        }
        // Before the first key of the next range.
        let isThere = try [first + 1].withUnsafeBytes { try inner.seek(before: $0) }
        return setEntry(isThere)
    }

    override func next() throws -> Bool { setEntry(try inner.next()) }
    override func previous() throws -> Bool { setEntry(try inner.previous()) }

    override func next(copyingInto batch: EntryBatch) throws -> Int {
        if defect == .stopsAtTheBatchEnd { _ = try inner.next() }
        return try super.next(copyingInto: batch)
    }
}
