import PolyStoreBackend

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

    /// The buffer for copied entries, with `copied + keyRoom` bytes for each entry; `nil` if entries are not copied.
    @usableFromInline let copies: UnsafeMutableRawPointer?
    /// The maximum number of bytes copied from a value.
    @usableFromInline let copied: Int
    /// The maximum number of bytes copied from a key. A longer key is truncated, but `keyCounts` contains its original length.
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
        let target = copies + position &* (copied &+ Self.keyRoom)
        if let start = key.baseAddress { target.copyMemory(from: start, byteCount: min(key.count, Self.keyRoom)) }
        if let start = value.baseAddress { (target + Self.keyRoom).copyMemory(from: start, byteCount: min(value.count, copied)) }
        keys[position] = UnsafeRawPointer(target)
        keyCounts[position] = key.count
        values[position] = UnsafeRawPointer(target + Self.keyRoom)
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
