extension OrderedRows {
    /// Consecutive bytes of a sort key, padded with zeros.
    struct Prefix: Sendable, Comparable {
        fileprivate let high: UInt64
        fileprivate let low: UInt32

        fileprivate init(_ high: UInt64, _ low: UInt32) { (self.high, self.low) = (high, low) }

        /// Takes the bytes of a key from an offset on.
        init(_ key: [UInt8], from start: Int = 0) {
            var high: UInt64 = 0
            for index in start..<max(start, min(start + 8, key.count)) { high |= UInt64(key[index]) << UInt64(56 - 8 * (index - start)) }
            var low: UInt32 = 0
            for index in start + 8..<max(start + 8, min(start + Self.count, key.count)) {
                low |= UInt32(key[index]) << UInt32(24 - 8 * (index - start - 8))
            }
            self.init(high, low)
        }

        static let count = 12

        static func < (left: Prefix, right: Prefix) -> Bool { left.high != right.high ? left.high < right.high : left.low < right.low }

        /// Returns the prefix that begins with other bytes, followed by the first bytes of this one.
        func preceded(by bytes: ArraySlice<UInt8>) -> Prefix {
            var key = Array(bytes.prefix(Self.count))
            for shift in stride(from: 56, through: 0, by: -8) { key.append(UInt8(truncatingIfNeeded: high >> UInt64(shift))) }
            for shift in stride(from: 24, through: 0, by: -8) { key.append(UInt8(truncatingIfNeeded: low >> UInt32(shift))) }
            return Prefix(key)
        }
    }

    /// Prefixes in a row. They are split into two arrays, because one array would pad each prefix from 12 to 16 bytes.
    struct Prefixes: Sendable {
        private var high: [UInt64] = []
        private var low: [UInt32] = []

        subscript(index: Int) -> Prefix {
            get { Prefix(high[index], low[index]) }
            set { (high[index], low[index]) = (newValue.high, newValue.low) }
        }

        var indices: Range<Int> { high.indices }

        mutating func reserveCapacity(_ count: Int) {
            high.reserveCapacity(count)
            low.reserveCapacity(count)
        }

        mutating func insert(_ prefix: Prefix, at index: Int) {
            high.insert(prefix.high, at: index)
            low.insert(prefix.low, at: index)
        }

        mutating func append(_ prefix: Prefix) {
            high.append(prefix.high)
            low.append(prefix.low)
        }

        mutating func remove(at index: Int) {
            high.remove(at: index)
            low.remove(at: index)
        }

        /// Moves the prefixes from an index on to other prefixes, which must be empty.
        mutating func move(from index: Int, to other: inout Prefixes) {
            other.high += high[index...]
            other.low += low[index...]
            high.removeSubrange(index...)
            low.removeSubrange(index...)
        }

        mutating func insert(contentsOf other: Prefixes, at index: Int) {
            high.insert(contentsOf: other.high, at: index)
            low.insert(contentsOf: other.low, at: index)
        }
    }
}
