extension OrderedRows {
    /// Consecutive bytes of a sort key, padded with zeros.
    package struct Prefix: Sendable, Comparable {
        private let high: UInt64
        private let low: UInt64

        private init(_ high: UInt64, _ low: UInt64) { (self.high, self.low) = (high, low) }

        /// Takes the bytes of a key from an offset on.
        init(_ key: [UInt8], from start: Int = 0) { self.init(Self.word(key, start), Self.word(key, start + 8)) }

        static let count = 16

        /// Returns eight bytes, big-endian.
        private static func word(_ key: [UInt8], _ start: Int) -> UInt64 {
            var word: UInt64 = 0
            for index in start..<max(start, min(start + 8, key.count)) { word |= UInt64(key[index]) << UInt64(56 - 8 * (index - start)) }
            return word
        }

        package static func < (left: Prefix, right: Prefix) -> Bool {
            left.high != right.high ? left.high < right.high : left.low < right.low
        }

        /// Returns the prefix that begins with other bytes, followed by the first bytes of this one.
        func preceded(by bytes: ArraySlice<UInt8>) -> Prefix {
            var (high, low) = (high, low)
            for byte in bytes.prefix(Self.count).reversed() {
                low = low >> 8 | high << 56
                high = high >> 8 | UInt64(byte) << 56
            }
            return Prefix(high, low)
        }
    }
}
