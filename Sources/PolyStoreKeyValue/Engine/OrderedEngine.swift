import PolyStoreBackend

/// An ordered key-value engine: the minimum that a backend implements (tier A). About 150 lines; the record layer supplies everything else, from
/// read-your-writes to indexes and queries.
///
/// Keys are 1 to ``KeyWriter/longestKey`` bytes, ordered by `memcmp`. Values are slightly larger than ``EngineTraits/largestPiece`` bytes at most.
///
/// An engine with its own write transactions also implements ``TransactionalEngine`` (tier B).
public protocol OrderedEngine: AnyObject, Sendable {
    /// The location of the store, for error messages.
    var place: String { get }
    var traits: EngineTraits { get }
    /// Returns a snapshot of everything applied so far. Any number of snapshots can be open, on any thread.
    func snapshot() throws -> any EngineSnapshot
    /// Writes a batch atomically. When the call returns, the batch is visible to new snapshots and as durable as requested. Calls never overlap.
    /// - Throws: `full`, `io`. After an error that leaves the engine in an unknown state, every later call must throw.
    func apply(_ batch: WriteBatch, _ durability: Durability) throws
    /// Closes the engine. Called once, after the last snapshot has ended.
    func close()
    /// Checks that the engine's files are still at their original paths. Called before each commit. The default, for engines without files, does nothing.
    /// - Throws: `io` if a file was deleted or replaced, because writes to it would be lost.
    func checkFiles() throws
    /// The paths of the files that a commit of any process writes to; see `StorageBackend.commitFiles`. The default is empty.
    var commitFiles: [String] { get }
    /// Returns a sentence for each damage that the engine finds. A thrown `corrupt` error also counts as a finding.
    /// - Throws: ``EngineDamage`` if reading entries is not safe: the record layer then reads none.
    func verify() throws -> [String]
    /// Takes the migration lock, which one process at a time can hold and which is released when the process ends. The default is for engines that only one
    /// process at a time can open, which need no lock.
    /// - Returns: `false` if another process holds the lock.
    func lockMigration() throws -> Bool
    /// Releases the migration lock.
    func unlockMigration()
    /// Writes a copy of the newest version to another location, and returns when the copy and its folder entry are durable. An engine that supports this has
    /// the feature `Capabilities.Feature.copying`; the default throws `unsupported`.
    /// - Parameter location: A path at which nothing exists.
    /// - Throws: `io` if something exists at the path.
    func copy(to location: String) throws
    /// See `StorageBackend.compact()`. Called without a write transaction. The default throws `unsupported`.
    func compact() throws
}

/// Damage that makes reading entries unsafe. Verification reports only these findings.
public struct EngineDamage: Error {
    /// A sentence for each finding.
    public let findings: [String]

    /// - Parameter findings: A sentence for each finding.
    public init(_ findings: [String]) { self.findings = findings }
}

extension OrderedEngine {
    /// Empty: the default for engines without files.
    public var commitFiles: [String] { [] }
    /// Does nothing.
    public func checkFiles() throws {}
    /// Finds nothing.
    public func verify() throws -> [String] { [] }
    /// Returns `true` without taking a lock.
    public func lockMigration() throws -> Bool { true }
    /// Does nothing.
    public func unlockMigration() {}
    /// Throws `unsupported`.
    public func compact() throws {
        throw StoreError(
            .unsupported, "This engine cannot compact a store that is in use. Copy the store instead: a copy holds no unused room.")
    }
    /// Throws `unsupported`.
    public func copy(to location: String) throws {
        throw StoreError(.unsupported, "The engine of \(place) cannot copy its stores.", url: place)
    }
}

extension OrderedEngine {
    /// Copies every key of the newest version to an empty engine. For implementations of ``copy(to:)``.
    public func copyEntries(to other: any OrderedEngine) throws {
        let source = try snapshot()
        defer { source.end() }
        let cursor = try source.cursor()
        defer { cursor.close() }
        let limit = min(other.traits.largestTransaction / 2, 8 << 20)
        var more = try [UInt8]().withUnsafeBytes { try cursor.seek($0) }
        while more {
            let writer: any EngineWriter =
                if let other = other as? any TransactionalEngine { try other.beginWrite() } else { try OverlayTransaction(other) }
            defer { writer.end() }
            var bytes = 0
            while more, bytes < limit {
                try writer.put(cursor.key, cursor.value)
                bytes += cursor.key.count + cursor.value.count
                more = try cursor.next()
            }
            try writer.commit(.full)
        }
    }
}

/// The properties of an engine that the record layer depends on.
public struct EngineTraits: Sendable, Hashable {
    /// The features that the engine provides: `Capabilities.Feature.persistence`, … The record layer adds its own.
    public var features: Set<Capabilities.Feature>
    /// The durability levels that the engine supports.
    public var durabilities: Set<Durability>
    /// A Boolean value that indicates whether records get their own checksums. Not needed if the bytes never leave the process.
    public var checksumsRecords: Bool
    /// A Boolean value that indicates whether a value from ``EngineSnapshot/get(_:)`` stays valid until the snapshot ends or is written to, instead of until
    /// the next `get`. Saves a copy.
    public var valuesStay: Bool
    /// The size in bytes above which values are split into pieces.
    public var largestPiece: Int
    /// The maximum number of bytes of a transaction's keys and values. A larger transaction throws `full` before it writes.
    public var largestTransaction: Int
    /// The number of records that one commit of an index build covers. Tests reduce it.
    package var recordsOfIndexCommit = 2000
    /// The time that a transaction waits for a migration, in milliseconds. Tests reduce it.
    package var migrationTimeout = 10_000

    /// Creates the traits of an engine.
    public init(
        features: Set<Capabilities.Feature>, durabilities: Set<Durability> = [.full, .relaxed], checksumsRecords: Bool = true,
        valuesStay: Bool = false, largestPiece: Int = 65_536, largestTransaction: Int = .max
    ) {
        self.features = features
        self.durabilities = durabilities
        self.checksumsRecords = checksumsRecords
        self.valuesStay = valuesStay
        self.largestPiece = largestPiece
        self.largestTransaction = largestTransaction
    }
}

/// A consistent snapshot of an engine. Used by one thread at a time.
public protocol EngineSnapshot: AnyObject {
    /// Returns the value of a key, or `nil`. It is valid until the next call of `get` or the end of the snapshot (see ``EngineTraits/valuesStay``).
    func get(_ key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer?
    /// Returns an unpositioned cursor. Several can be open at the same time. A cursor is closed before its snapshot ends, or must tolerate its end.
    func cursor() throws -> EngineCursor
    /// Releases the snapshot. A second call has no effect.
    func end()
}

/// A position in the keys of a snapshot. A base class rather than a protocol, so that a move is one call without a protocol witness.
///
/// A move must throw if it cannot read every key between its start and the key that it returns. Callers stop anywhere in a range and rely on the keys that they
/// have seen, so an engine that skips unreadable data must check for it in every move, or once per batch.
open class EngineCursor {
    // Each access is a single load or store, so exclusivity checks are not needed.
    @exclusivity(unchecked) @usableFromInline final var currentKey = UnsafeRawBufferPointer(start: nil, count: 0)
    @exclusivity(unchecked) @usableFromInline final var currentValue = UnsafeRawBufferPointer(start: nil, count: 0)

    /// The current key, which is valid until the next move.
    @inlinable public final var key: UnsafeRawBufferPointer { currentKey }
    /// The current value, which is valid until the next move.
    @inlinable public final var value: UnsafeRawBufferPointer { currentValue }

    /// Creates an unpositioned cursor.
    public init() {}

    /// Sets the current entry. A subclass calls it before a move returns `true`.
    @inlinable
    public final func stand(on key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        currentKey = key
        currentValue = value
    }

    /// Moves to the first key that is not less than the given key and calls ``stand(on:_:)``.
    /// - Returns: `false` if every key is less. The cursor is then unpositioned, and only `seek` and `last` may follow.
    open func seek(_ key: UnsafeRawBufferPointer) throws -> Bool { false }
    /// Moves to the last key.
    open func last() throws -> Bool { false }
    /// Moves to the next key. Returns `false` at the end.
    open func next() throws -> Bool { false }
    /// Moves to the previous key. Returns `false` at the beginning.
    open func previous() throws -> Bool { false }
    /// Releases the cursor. A second call has no effect.
    open func close() {}

    /// Moves forward until the batch is full or the keys end, and adds each entry to the batch without copying. Implement it if entries stay in place until the
    /// cursor is closed or the snapshot is written to. `key` and `value` are undefined afterwards.
    /// - Returns: the number of entries, which is less than the capacity only at the end. `nil` if the cursor does not support this; it has not moved then.
    open func next(into batch: EntryBatch) throws -> Int? { nil }

    /// Moves forward until the batch is full or the keys end, and copies the key and the first bytes of the value of each entry. For engines whose entries are
    /// invalid after the next move; implement it if a move is about as cheap as the call.
    /// - Returns: the number of entries, which is less than the capacity only at the end.
    open func next(copyingInto batch: EntryBatch) throws -> Int {
        var count = 0
        while count < EntryBatch.capacity, try next() {
            batch.copy(count, key, value)
            count += 1
        }
        return count
    }

    /// Moves to the last key that is less than the given key.
    public final func seek(before key: UnsafeRawBufferPointer) throws -> Bool { try seek(key) ? previous() : last() }
}

/// A buffer for consecutive entries.
public final class EntryBatch {
    /// The maximum number of entries.
    public static let capacity = 128
    /// The addresses of the keys.
    public let keys: UnsafeMutablePointer<UnsafeRawPointer?>
    /// The lengths of the keys in bytes.
    public let keyCounts: UnsafeMutablePointer<Int>
    /// The addresses of the values.
    public let values: UnsafeMutablePointer<UnsafeRawPointer?>
    /// The lengths of the values in bytes.
    public let valueCounts: UnsafeMutablePointer<Int>
    /// Has no meaning; prevents the compiler from removing prefetching reads.
    @exclusivity(unchecked) var touched: UInt8 = 0

    /// The buffer for copies, `copied + keyRoom` bytes each; `nil` if nothing is copied.
    @usableFromInline let copies: UnsafeMutableRawPointer?
    /// The maximum number of bytes copied from a value.
    @usableFromInline let copied: Int
    /// The maximum number of bytes copied from a key; the key's length is stored completely.
    @usableFromInline static let keyRoom = 16

    /// - Parameter copied: The number of bytes to copy from each value; 0 for no copies.
    package init(copied: Int = 0) {
        self.copied = copied
        copies = copied == 0 ? nil : .allocate(byteCount: Self.capacity * (copied + Self.keyRoom), alignment: 16)
        keys = .allocate(capacity: Self.capacity)
        keyCounts = .allocate(capacity: Self.capacity)
        values = .allocate(capacity: Self.capacity)
        valueCounts = .allocate(capacity: Self.capacity)
        keys.initialize(repeating: nil, count: Self.capacity)
        keyCounts.initialize(repeating: 0, count: Self.capacity)
        values.initialize(repeating: nil, count: Self.capacity)
        valueCounts.initialize(repeating: 0, count: Self.capacity)
    }

    deinit {
        copies?.deallocate()
        keys.deallocate()
        keyCounts.deallocate()
        values.deallocate()
        valueCounts.deallocate()
    }

    /// Stores a copy of an entry. The counts are those of the original entry.
    @inlinable @inline(__always)
    public func copy(_ position: Int, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        guard let copies else { return }
        let place = copies + position &* (copied &+ Self.keyRoom)
        if let start = key.baseAddress { place.copyMemory(from: start, byteCount: min(key.count, Self.keyRoom)) }
        if let start = value.baseAddress { (place + Self.keyRoom).copyMemory(from: start, byteCount: min(value.count, copied)) }
        keys[position] = UnsafeRawPointer(place)
        keyCounts[position] = key.count
        values[position] = UnsafeRawPointer(place + Self.keyRoom)
        valueCounts[position] = value.count
    }

    @inline(__always)
    func set(_ position: Int, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        keys[position] = key.baseAddress
        keyCounts[position] = key.count
        values[position] = value.baseAddress
        valueCounts[position] = value.count
    }

    @inline(__always)
    package func key(_ position: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: keys[position], count: keyCounts[position])
    }

    @inline(__always)
    package func value(_ position: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: values[position], count: valueCounts[position])
    }
}

/// The changes of one transaction, in ascending order of unique keys.
public struct WriteBatch {
    let tree: OrderedTree
    /// The size of all keys and values in bytes, or more if keys were written several times.
    public let byteCount: Int
    /// Called by ``visit(_:)`` after the first key, so that a test can use an engine while it reads the batch.
    package var whileVisited: (() -> Void)?

    init(_ tree: OrderedTree, byteCount: Int) {
        self.tree = tree
        self.byteCount = byteCount
    }

    /// The number of keys.
    public var count: Int { tree.count }

    /// Calls a closure with each key and its new value. `nil` removes the key, which may not exist.
    public func visit(_ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?) throws -> Void) rethrows {
        var cursor = tree.cursor()
        var more = cursor.first()
        if let whileVisited, more, let entry = cursor.entry {
            try body(entry.key, entry.value)
            whileVisited()
            more = cursor.next()
        }
        while more, let entry = cursor.entry {
            try body(entry.key, entry.value)
            more = cursor.next()
        }
    }
}
