import PolyStoreBackend

/// What an ordered key-value engine must do to become a full backend: tier A. About 150 lines; the record layer supplies everything else, from
/// read-your-writes to indexes and queries.
///
/// Keys are 1 to ``KeyWriter/longestKey`` bytes, ordered as `memcmp` orders them. Values are up to ``EngineTraits/largestPiece`` bytes and a
/// little more.
///
/// An engine with transactions of its own implements ``TransactionalEngine`` too (tier B).
public protocol OrderedEngine: AnyObject, Sendable {
    /// For messages: where the store is.
    var place: String { get }
    var traits: EngineTraits { get }
    /// A view of everything that was applied so far and of nothing that comes later. Any number at a time, on any thread.
    func snapshot() throws -> any EngineSnapshot
    /// Writes a batch: all of it or nothing, visible to every snapshot taken afterwards, and safe as far as asked when it returns. Called for one
    /// batch at a time.
    /// - Throws: `full`, `io`. After an error of which the engine does not know what it left, every later call must throw.
    func apply(_ batch: WriteBatch, _ durability: Durability) throws
    /// Ends the use of the engine; called once, when no snapshot is open any more.
    func close()
    /// Makes sure that the engine's files are still where it opened them: asked before each commit. An engine without files has the default.
    /// - Throws: `io` where one was deleted or replaced, as what is written then would be lost.
    func checkFiles() throws
    /// Paths of the files to which a commit of any process writes; see ``StorageBackend/commitFiles``. The default is empty.
    var commitFiles: [String] { get }
    /// What the engine itself can find damaged, a sentence each; `corrupt`, thrown, is a finding as well.
    /// - Throws: ``EngineDamage`` where reading entries is not safe: the record layer then reads none.
    func verify() throws -> [String]
}

/// Damage that an engine cannot read over: its findings are all that a verification says.
public struct EngineDamage: Error {
    public let findings: [String]

    /// - Parameter findings: a sentence each.
    public init(_ findings: [String]) { self.findings = findings }
}

extension OrderedEngine {
    public var commitFiles: [String] { [] }
    public func checkFiles() throws {}
    public func verify() throws -> [String] { [] }
}

/// What the record layer needs to know about an engine.
public struct EngineTraits: Sendable, Hashable {
    /// What the backend may claim because of the engine: ``Capabilities/Feature/persistence``, … The record layer adds what it supplies itself.
    public var features: Set<Capabilities.Feature>
    public var durabilities: Set<Durability>
    /// Whether records get a checksum of their own. Not needed where the bytes never leave the process.
    public var checksumsRecords: Bool
    /// What ``EngineSnapshot/get(_:)`` gave stays valid until the snapshot ends or is written to, and not only until the next `get`: spares a copy.
    public var valuesStay: Bool
    /// Longer values are cut into pieces of this size.
    public var largestPiece: Int
    /// The most bytes of one transaction's keys and values; more throws `full` at once instead of failing half-way.
    public var largestTransaction: Int
    /// Records that one commit of the building of an index takes in. Tests make it smaller.
    package var recordsOfIndexCommit = 2000

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

/// A consistent view of an engine. Used by one thread at a time.
public protocol EngineSnapshot: AnyObject {
    /// The value of a key, valid until the next call of `get` or the end of the snapshot (see ``EngineTraits/valuesStay``); nil where there is none.
    func get(_ key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer?
    /// A cursor on no entry. Several may be open at once; each is closed before the snapshot ends, or must bear its end.
    func cursor() throws -> EngineCursor
    /// Gives back what it holds. A second call does nothing.
    func end()
}

/// A place in the keys of a snapshot. A class to subclass: one call a move, no protocol witness.
///
/// A move must throw if it cannot read every key between its start and the key that it returns. Callers stop anywhere in a range and rely on the keys
/// that they have seen, so an engine that skips unreadable data must check for it in every move, or once per batch.
open class EngineCursor {
    // Plain values that are read and written in one step each: exclusivity checks could find nothing.
    @exclusivity(unchecked) @usableFromInline final var currentKey = UnsafeRawBufferPointer(start: nil, count: 0)
    @exclusivity(unchecked) @usableFromInline final var currentValue = UnsafeRawBufferPointer(start: nil, count: 0)

    /// The key that it stands on; valid until the next move.
    @inlinable public final var key: UnsafeRawBufferPointer { currentKey }
    /// The value that it stands on; valid until the next move.
    @inlinable public final var value: UnsafeRawBufferPointer { currentValue }

    public init() {}

    /// Tells where it stands: to be called by a subclass before a move returns true.
    @inlinable
    public final func stand(on key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        currentKey = key
        currentValue = value
    }

    /// Moves to the first key that is not below another, and stands there (``stand(on:_:)``).
    /// - Returns: false where there is none; the cursor then stands nowhere, and only `seek` and `last` may follow.
    open func seek(_ key: UnsafeRawBufferPointer) throws -> Bool { false }
    /// Moves to the last key of all.
    open func last() throws -> Bool { false }
    /// Moves one key on. False at the end.
    open func next() throws -> Bool { false }
    /// Moves one key back. False at the beginning.
    open func previous() throws -> Bool { false }
    /// Gives back what it holds. A second call does nothing.
    open func close() {}

    /// Moves on as often as there is room in a batch and a next key, and hands over each entry that it comes to. Worth implementing where entries stay
    /// where they are until the cursor is closed or the snapshot is written to; `key` and `value` mean nothing afterwards.
    /// - Returns: how many; fewer than there is room for only at the end. nil: the cursor cannot do this, and has not moved.
    open func next(into batch: EntryBatch) throws -> Int? { nil }

    /// Moves on as often as there is room in a batch and a next key, and copies of each entry that it comes to the key and the value's first bytes. For
    /// entries that are gone with the next move; worth implementing where a move costs little more than being asked for it.
    /// - Returns: how many; fewer than there is room for only at the end.
    open func next(copyingInto batch: EntryBatch) throws -> Int {
        var count = 0
        while count < EntryBatch.capacity, try next() {
            batch.copy(count, key, value)
            count += 1
        }
        return count
    }

    /// Moves to the last key that is below another.
    public final func seek(before key: UnsafeRawBufferPointer) throws -> Bool { try seek(key) ? previous() : last() }
}

/// Room for entries that lie one behind the other.
public final class EntryBatch {
    public static let capacity = 128
    public let keys: UnsafeMutablePointer<UnsafeRawPointer?>
    public let keyCounts: UnsafeMutablePointer<Int>
    public let values: UnsafeMutablePointer<UnsafeRawPointer?>
    public let valueCounts: UnsafeMutablePointer<Int>
    /// Of no meaning; keeps reads ahead from being left out.
    @exclusivity(unchecked) var touched: UInt8 = 0

    /// Room for copies, `copied + keyRoom` bytes each; nil where nothing is copied.
    @usableFromInline let copies: UnsafeMutableRawPointer?
    /// At most so many bytes of a value are copied.
    @usableFromInline let copied: Int
    /// Longer keys are copied in part; their length says so.
    @usableFromInline static let keyRoom = 16

    /// - Parameter copied: for copies of so many bytes of each value; 0 for none.
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

    /// Keeps a copy of an entry. The counts are those of the entry itself.
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

/// What one transaction writes, in ascending order of the keys, each key once.
public struct WriteBatch {
    let tree: OrderedTree
    /// Bytes of all keys and values; more where keys were written several times.
    public let byteCount: Int
    /// Called by ``visit(_:)`` after the first key: lets a test use an engine while the engine reads the batch.
    package var whileVisited: (() -> Void)?

    init(_ tree: OrderedTree, byteCount: Int) {
        self.tree = tree
        self.byteCount = byteCount
    }

    /// Number of keys.
    public var count: Int { tree.count }

    /// Hands over each key with its new value; nil: the key is to be removed, whether or not it is there.
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
