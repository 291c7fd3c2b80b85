/// A half-open range of keys.
struct KeyRange: Hashable {
    var start: [UInt8]
    var end: [UInt8]

    /// Creates the range of all keys with a prefix.
    init(prefix: [UInt8]) {
        start = prefix
        end = Self.successor(prefix)
    }

    /// Creates the range of the keys of an entity's records.
    init(recordsOf number: UInt32) { self.init(prefix: [Keyspace.record.rawValue] + BigEndianInteger.bytes(number)) }

    init(_ start: [UInt8], _ end: [UInt8]) {
        self.start = start
        self.end = end
    }

    var isEmpty: Bool { !start.lexicographicallyPrecedes(end) }

    /// Returns the first key after all keys with a prefix. Every key of the record layer begins with a byte below FF.
    static func successor(_ prefix: [UInt8]) -> [UInt8] {
        var next = prefix
        while let last = next.popLast() {
            if last < 0xff {
                next.append(last + 1)
                break
            }
        }
        return next
    }
}
