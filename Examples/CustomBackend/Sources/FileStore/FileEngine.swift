import Foundation
import PolyStoreBackend
import PolyStoreKeyValue
import Synchronization

/// An ordered engine in one file: a sequence of batches, each with checksums, and all current keys and values in a tree in memory.
///
/// Each batch is flushed before the next is written, so only the last can be torn: it is cut off when the file is opened, and damage
/// before it is `corrupt`. Closing adds an empty batch, so that damage of a batch with data never looks like a torn end.
final class FileEngine: OrderedEngine {
    var location: String { log.storePath.path }
    // Every commit is flushed, for any durability. Bytes are verified when they are read into memory, so records need no checksums of their own.
    let traits = EngineTraits(
        features: [.persistence, .fullDurability], durabilities: [.full], checksumsRecords: false, valuesStay: true,
        maximumTransactionSize: 1 << 30)
    let log: BatchLog
    private let state: Mutex<State>
    private struct State {
        var tree = OrderedTree()
        var (end, hasWritten) = (0, false)
        var failure: StoreError?
    }

    init(_ storePath: StorePath, _ logger: any StoreLogger) throws {
        var (log, state) = (BatchLog(storePath: storePath, file: try storePath.openLocked(mode: 0o600)), State())
        do {
            let size = try log.prepare()
            state.end = try log.read(to: size, into: &state.tree)
            if state.end < size { logger.write(.notice, "The last commit to \(storePath.path) was not finished, and is cut off.") }
            if let new = try log.compacted(WriteBatch(state.tree), from: state.end) { (log, state.end, state.hasWritten) = new }
            guard ftruncate(log.file, off_t(state.end)) == 0 else { throw log.storePath.refused("The file cannot be cut", errno) }
        } catch {
            log.close()
            throw error
        }
        self.log = log
        self.state = Mutex(state)
    }

    func snapshot() -> any EngineSnapshot { state.withLock { $0.tree }.makeSnapshot() }

    func apply(_ batch: WriteBatch, _ durability: Durability) throws {
        var (tree, end, failure) = state.withLock { ($0.tree, $0.end, $0.failure) }
        if let failure { throw failure }
        tree.apply(batch)
        do { end = try log.append(batch, at: end) } catch {  // an unknown part of it is on the disk: nothing may follow it
            let words = "An earlier write to \(location) failed, so nothing more is written. Close the store and open it again."
            state.withLock { $0.failure = StoreError(.io, words, location: location, underlying: "\(error)") }
            throw error
        }
        state.withLock { ($0.tree, $0.end, $0.hasWritten) = (tree, end, true) }
    }

    func verify(reporting report: MaintenanceReport) throws -> [String] {
        let end = state.withLock { $0.end }
        var tree = OrderedTree()
        return try log.read(to: end, into: &tree) == end ? [] : ["The last batch of \(location) is damaged."]
    }

    func close() {
        let last = state.withLock { $0 }
        if last.hasWritten, last.failure == nil { _ = try? log.append(WriteBatch(OrderedTree()), at: last.end) }
        log.close()
    }
}

/// The locked file: a magic, then batches, each after its length (8 bytes), its CRC-32C (4) and the CRC-32C of the length (4).
struct BatchLog: Sendable {
    private static let magic = Array("FileStore log 1\n".utf8)
    let storePath: StorePath
    let file: Int32

    func close() { StorePath.closeLocked(file) }

    /// Refuses a foreign file, initializes an empty one, and returns the length of the file.
    func prepare() throws -> Int {
        let size = Int(lseek(file, 0, SEEK_END))
        guard try Self.magic.starts(with: bytes(min(size, Self.magic.count), at: 0)) else {
            throw StoreError(.notAStore, "\(storePath.path) is a file of another program and was not changed.", location: storePath.path)
        }
        if size < Self.magic.count { try write(Self.magic, at: 0) }
        try storePath.flushFolder()
        return max(size, Self.magic.count)
    }

    /// Applies all complete batches, and returns the end of the last one.
    func read(to size: Int, into tree: inout OrderedTree) throws -> Int {
        var at = Self.magic.count
        while size - at >= 16 {
            let damage = StoreError(.corrupt, "\(storePath.path) is damaged at byte \(at).", location: storePath.path)
            let head = try bytes(16, at: at).withUnsafeBytes { ($0.load(as: UInt64.self), $0.load(fromByteOffset: 8, as: UInt64.self)) }
            guard withUnsafeBytes(of: head.0, Self.sum) == head.1 >> 32 else {
                if try bytes(size - at - 16, at: at + 16).allSatisfy({ $0 == 0 }) { break }  // never reached the disk
                throw damage
            }
            guard head.0 <= size - at - 16 else { break }
            let batch = try bytes(Int(head.0), at: at + 16)
            let (next, isWhole) = (at + 16 + batch.count, batch.withUnsafeBytes(Self.sum) == head.1 & 0xffff_ffff)
            if !isWhole, next == size { break }
            guard isWhole, batch.withUnsafeBytes({ tree.apply(encoded: $0) }) else { throw damage }
            at = next
        }
        return at
    }

    /// Writes a batch with one call, flushes it, and returns the offset of the next batch.
    func append(_ batch: WriteBatch, at end: Int) throws -> Int {
        var bytes = [UInt8](repeating: 0, count: 16)
        batch.encode(into: &bytes)
        let length = UInt64(bytes.count - 16)
        let sums = withUnsafeBytes(of: length, Self.sum) << 32 | bytes[16...].withUnsafeBytes(Self.sum)
        [length, sums].withUnsafeBytes { bytes.replaceSubrange(..<16, with: $0) }
        try write(bytes, at: end)
        return end + bytes.count
    }

    /// Replaces the file with one of the current entries only, if that is less than half as long and the disk has space.
    func compacted(_ live: WriteBatch, from end: Int) throws -> (BatchLog, end: Int, hasWritten: Bool)? {
        guard end > 2 * live.encodedCount + 1 << 20 else { return nil }
        let other = StorePath(path: storePath.path + ".compacting")
        unlink(other.path)
        guard let file = try? other.openLocked(mode: 0o600) else { return nil }
        let smaller = BatchLog(storePath: storePath, file: file)
        do {
            let end = try smaller.append(live, at: smaller.prepare())
            if rename(other.path, storePath.path) != 0 { throw storePath.refused("The file cannot be replaced", errno) }
            try storePath.flushFolder()
            close()
            return (smaller, end, true)
        } catch {
            smaller.close()
            if unlink(other.path) == 0 { return nil }
            throw error
        }
    }

    private static func sum(_ bytes: UnsafeRawBufferPointer) -> UInt64 { UInt64(RecordChecksum.crc32c(bytes)) }

    private func bytes(_ count: Int, at offset: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        if pread(file, &bytes, count, off_t(offset)) == count { return bytes }
        throw storePath.refused("The file cannot be read", EIO)
    }

    private func write(_ bytes: [UInt8], at offset: Int) throws {
        let count = pwrite(file, bytes, bytes.count, off_t(offset))
        if count < bytes.count { throw storePath.refused("The file cannot be written", count < 0 ? errno : ENOSPC) }
        try storePath.flush(file)
    }
}
