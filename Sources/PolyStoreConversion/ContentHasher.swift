/// A hash of the contents of one unit of a store: a record, the links of an object, a log entry or a named value.
///
/// It finds errors, not forgeries. The result is the same on every platform and for every backend.
struct ContentHasher {
    private var first: UInt64
    private var second: UInt64

    /// - Parameter seed: Distinguishes equal contents of different parts of a store.
    init(_ seed: UInt64) {
        first = seed ^ 0x9e37_79b9_7f4a_7c15
        second = seed &* 0xc2b2_ae3d_27d4_eb4f &+ 1
    }

    @inline(__always)
    mutating func add(_ word: UInt64) {
        let product = (first ^ word).multipliedFullWidth(by: 0xa076_1d64_78bd_642f)
        first = product.high ^ product.low &+ 0x2d35_8dcc_aa6c_78a5
        // Each step is a bijection, so that a difference cannot disappear in it.
        second = (second ^ word) &* 0x9fb2_1c65_1e98_df25
        second ^= second &>> 29
    }

    @inline(__always)
    mutating func add(_ number: Int64) { add(UInt64(bitPattern: number)) }

    /// Adds bytes and their number.
    @inline(__always)
    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        add(UInt64(bytes.count))
        var offset = 0
        while offset &+ 8 <= bytes.count {
            add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset &+= 8
        }
        guard offset < bytes.count else { return }
        var last: UInt64 = 0
        while offset < bytes.count {
            last = last &<< 8 | UInt64(bytes[offset])
            offset &+= 1
        }
        add(last)
    }

    /// Adds the UTF-8 bytes of a text.
    mutating func add(_ text: String) {
        var text = text
        text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
    }

    /// The hash of what was added.
    var value: ContentHash { ContentHash(low: Self.mixed(first), high: Self.mixed(second ^ first &<< 1)) }

    private static func mixed(_ word: UInt64) -> UInt64 {
        var word = (word ^ word &>> 32) &* 0xd6e8_feb8_6659_fd93
        word = (word ^ word &>> 32) &* 0xd6e8_feb8_6659_fd93
        return word ^ word &>> 32
    }

    /// Returns the seed of a part of a store.
    static func seed(_ kind: UInt64, _ name: String) -> UInt64 {
        var hasher = ContentHasher(kind)
        hasher.add(name)
        return hasher.value.low
    }
}

/// A hash of 128 bits. The sum of hashes does not depend on the order of the units.
struct ContentHash: Sendable, Hashable {
    var low: UInt64 = 0
    var high: UInt64 = 0

    @inline(__always)
    static func &+= (sum: inout ContentHash, other: ContentHash) {
        sum.low &+= other.low
        sum.high &+= other.high
    }
}
