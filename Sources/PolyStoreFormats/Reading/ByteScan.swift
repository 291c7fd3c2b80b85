/// Fast searches in bytes.
enum ByteScan {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highs: UInt64 = 0x8080_8080_8080_8080

    /// Returns a mask whose lowest set bit is in the first zero byte of `word`.
    @inline(__always)
    private static func zeros(_ word: UInt64) -> UInt64 { (word &- ones) & ~word & highs }

    /// Returns the offset of the first byte at or after `start` that ends the plain part of a JSON string (a quote, a backslash, a control character
    /// or a non-ASCII byte), or `end`.
    @inline(__always)
    static func plainStringEnd(_ bytes: UnsafePointer<UInt8>, _ start: Int, _ end: Int) -> Int {
        var index = start
        while index &+ 8 <= end {
            let word = UInt64(littleEndian: UnsafeRawPointer(bytes + index).loadUnaligned(as: UInt64.self))
            let quotes = zeros(word ^ (ones &* 0x22))
            let backslashes = zeros(word ^ (ones &* 0x5c))
            let controls = (word &- (ones &* 0x20)) & ~word & highs
            let mask = quotes | backslashes | controls | (word & highs)
            if mask != 0 { return index &+ (mask.trailingZeroBitCount >> 3) }
            index &+= 8
        }
        while index < end {
            let byte = bytes[index]
            if byte == 0x22 || byte == 0x5c || byte < 0x20 || byte >= 0x80 { return index }
            index &+= 1
        }
        return end
    }

    /// Returns the offset of the first byte at or after `start` that equals `quote` or is not ASCII, or `end`.
    @inline(__always)
    static func quoteEnd(_ quote: UInt8, _ bytes: UnsafePointer<UInt8>, _ start: Int, _ end: Int) -> Int {
        var index = start
        let wide = ones &* UInt64(quote)
        while index &+ 8 <= end {
            let word = UInt64(littleEndian: UnsafeRawPointer(bytes + index).loadUnaligned(as: UInt64.self))
            let mask = zeros(word ^ wide) | (word & highs)
            if mask != 0 { return index &+ (mask.trailingZeroBitCount >> 3) }
            index &+= 8
        }
        while index < end {
            let byte = bytes[index]
            if byte == quote || byte >= 0x80 { return index }
            index &+= 1
        }
        return end
    }

    /// Returns the offset of the first byte at or after `start` that ends an unquoted field or is not ASCII, or `end`.
    @inline(__always)
    static func fieldEnd(_ delimiter: UInt8, _ bytes: UnsafePointer<UInt8>, _ start: Int, _ end: Int) -> Int {
        var index = start
        while index < end {
            let byte = bytes[index]
            if byte == delimiter || byte == 0x0a || byte == 0x0d || byte >= 0x80 { return index }
            index &+= 1
        }
        return end
    }

    /// Returns the length of the UTF-8 sequence that begins at `index`: 1 to 4; 0 if it is invalid; -1 if it is incomplete at `end`.
    @inline(__always)
    static func utf8Length(_ bytes: UnsafePointer<UInt8>, _ index: Int, _ end: Int) -> Int {
        let first = bytes[index]
        if first < 0x80 { return 1 }
        let length: Int
        var low: UInt8 = 0x80
        var high: UInt8 = 0xbf
        switch first {
        case 0xc2...0xdf: length = 2
        case 0xe0: (length, low) = (3, 0xa0)
        case 0xe1...0xec, 0xee, 0xef: length = 3
        case 0xed: (length, high) = (3, 0x9f)
        case 0xf0: (length, low) = (4, 0x90)
        case 0xf1...0xf3: length = 4
        case 0xf4: (length, high) = (4, 0x8f)
        default: return 0
        }
        guard index &+ 1 < end else { return -1 }
        let second = bytes[index &+ 1]
        guard second >= low, second <= high else { return 0 }
        var offset = 2
        while offset < length {
            guard index &+ offset < end else { return -1 }
            guard bytes[index &+ offset] & 0xc0 == 0x80 else { return 0 }
            offset &+= 1
        }
        return length
    }
}
