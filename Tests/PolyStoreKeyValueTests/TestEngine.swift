import Foundation
import PolyStoreBackend

@testable import PolyStoreKeyValue

/// A tier A engine that implements the contract strictly: it overwrites the bytes it returned as soon as they become invalid. Its keys survive closing, can be
/// changed without the store, and its writes can be made to fail.
final class TestEngine: OrderedEngine, @unchecked Sendable {  // everything mutable is accessed under the lock only
    let location: String
    let traits: EngineTraits
    private let lock = Lock()
    private var tree: OrderedTree
    /// The number of commits before all commits fail, or nil if none fails.
    private var commitsLeft: Int?

    init(
        location: String = "test engine", maximumPieceSize: Int = 65_536, maximumTransactionSize: Int = .max, checksumsRecords: Bool = true,
        migrationTimeout: Duration = .seconds(10), copying other: TestEngine? = nil
    ) {
        self.location = location
        tree = other?.lock.withLock { other?.tree } ?? OrderedTree()
        var traits = EngineTraits(
            features: [.persistence, .fullDurability], checksumsRecords: checksumsRecords, maximumPieceSize: maximumPieceSize,
            maximumTransactionSize: maximumTransactionSize)
        traits.migrationTimeout = migrationTimeout
        // A few hundred records take several commits.
        traits.recordsOfIndexCommit = 200
        self.traits = traits
    }

    func snapshot() -> any EngineSnapshot { lock.withLock { InvalidatingSnapshot(tree) } }

    func apply(_ batch: WriteBatch, _ durability: Durability) throws {
        try lock.withLock {
            if let left = commitsLeft {
                guard left > 0 else { throw StoreError(.io, "The engine fails on request.") }
                commitsLeft = left - 1
            }
            var last: [UInt8]?
            batch.visit { key, value in
                let isInOrder = last.map { $0.withUnsafeBytes { Order.of($0, key) < 0 } } ?? true
                precondition(isInOrder, "a batch is in order")
                precondition((1...KeyWriter.longestKey).contains(key.count), "keys have 1 to 480 bytes")
                last = [UInt8](key)
                if let value { tree.set(key, value) } else { tree.remove(key) }
            }
        }
    }

    func close() {}

    // MARK: Changes without the store

    func fail(after commits: Int?) { lock.withLock { commitsLeft = commits } }

    subscript(_ key: [UInt8]) -> [UInt8]? {
        get { lock.withLock { key.withUnsafeBytes { tree.value(of: $0).map { [UInt8]($0) } } } }
        set {
            lock.withLock {
                key.withUnsafeBytes { key in
                    if let newValue { newValue.withUnsafeBytes { tree.set(key, $0) } } else { tree.remove(key) }
                }
            }
        }
    }

    /// Returns every key with a prefix, in order.
    func keys(_ prefix: [UInt8] = []) -> [[UInt8]] {
        lock.withLock {
            var found: [[UInt8]] = []
            var cursor = tree.cursor()
            var more = prefix.withUnsafeBytes { cursor.seek($0) }
            while more, let entry = cursor.entry, prefix.withUnsafeBytes({ entry.key.starts(with: $0) }) {
                found.append([UInt8](entry.key))
                more = cursor.next()
            }
            return found
        }
    }

    /// Returns a copy with the same contents.
    func copy() -> TestEngine {
        TestEngine(
            location: location, maximumPieceSize: traits.maximumPieceSize, maximumTransactionSize: traits.maximumTransactionSize,
            checksumsRecords: traits.checksumsRecords, migrationTimeout: traits.migrationTimeout, copying: self)
    }
}

/// Bytes that are overwritten when they become invalid.
private final class InvalidatedBytes {
    private var buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)

    deinit { buffer.deallocate() }

    func hold(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        invalidate()
        if buffer.count < bytes.count + 1 {
            buffer.deallocate()
            buffer = .allocate(byteCount: bytes.count + 1, alignment: 1)
        }
        buffer.copyMemory(from: bytes)
        return UnsafeRawBufferPointer(rebasing: buffer[0..<bytes.count])
    }

    /// Overwrites the bytes. Without optimization, `initializeMemory` takes most of the time of these tests.
    func invalidate() { if let start = buffer.baseAddress { memset(start, 0xdd, buffer.count) } }
}

private final class InvalidatingSnapshot: EngineSnapshot {
    private var tree: OrderedTree?
    private let found = InvalidatedBytes()

    init(_ tree: OrderedTree) { self.tree = tree }

    private func use() throws -> OrderedTree {
        guard let tree else { throw StoreError(.closed, "The snapshot has ended.") }
        return tree
    }

    func get(_ key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer? {
        let value = try use().value(of: key)
        return value.map(found.hold)
    }

    func cursor() throws -> EngineCursor { InvalidatingCursor(try use()) }

    func end() {
        tree = nil
        found.invalidate()
    }
}

private final class InvalidatingCursor: EngineCursor {
    private var cursor: OrderedTree.Cursor
    private let (keyBytes, valueBytes) = (InvalidatedBytes(), InvalidatedBytes())
    private var isOpen = true

    init(_ tree: OrderedTree) {
        cursor = tree.cursor()
        super.init()
    }

    override func seek(_ key: UnsafeRawBufferPointer) throws -> Bool {
        // The key may be in the bytes to be overwritten.
        let wanted = [UInt8](key)
        return try move { cursor in wanted.withUnsafeBytes { cursor.seek($0) } }
    }
    override func last() throws -> Bool { try move { $0.last() } }
    override func next() throws -> Bool { try move { $0.next() } }
    override func previous() throws -> Bool { try move { $0.previous() } }

    override func close() {
        isOpen = false
        keyBytes.invalidate()
        valueBytes.invalidate()
    }

    private func move(_ step: (inout OrderedTree.Cursor) -> Bool) throws -> Bool {
        guard isOpen else { throw StoreError(.closed, "The cursor was closed.") }
        guard step(&cursor), let entry = cursor.entry else {
            keyBytes.invalidate()
            valueBytes.invalidate()
            return false
        }
        setCurrent(keyBytes.hold(entry.key), valueBytes.hold(entry.value ?? UnsafeRawBufferPointer(start: nil, count: 0)))
        return true
    }
}
