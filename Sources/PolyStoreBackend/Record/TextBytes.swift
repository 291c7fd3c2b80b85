internal import CRecordBytes

/// Conversions from stored bytes to strings.
@usableFromInline
enum TextBytes {
    /// Returns the same result as `String(decoding:as:)`, but faster for text that is not all ASCII: the bytes are validated in larger units and then copied.
    @usableFromInline
    static func string(_ bytes: UnsafeRawBufferPointer) -> String {
        guard let base = bytes.baseAddress else { return "" }
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            let isASCII: Bool
            let isText: Bool
            switch polystore_text_kind(base, bytes.count) {
            case polystore_text_unknown:
                isASCII = Self.isASCII(base, bytes.count)
                isText = isASCII || isValid(base, bytes.count)
            case let kind:
                isASCII = kind == polystore_text_ascii
                isText = kind != polystore_text_invalid
            }
            if isText {
                let units = UnsafeBufferPointer(start: base.assumingMemoryBound(to: UInt8.self), count: bytes.count)
                // A string with a known ASCII flag is compared and hashed without normalization.
                return String(copying: UTF8Span(unchecked: units.span, isKnownASCII: isASCII))
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns whether all bytes are ASCII, testing eight at a time; the last eight may overlap the previous ones.
    static func isASCII(_ base: UnsafeRawPointer, _ count: Int) -> Bool {
        let mask: UInt64 = 0x8080_8080_8080_8080
        if count >= 8 {
            let last = count &- 8
            var at = 0
            while at < last {
                if base.loadUnaligned(fromByteOffset: at, as: UInt64.self) & mask != 0 { return false }
                at &+= 8
            }
            return base.loadUnaligned(fromByteOffset: last, as: UInt64.self) & mask == 0
        }
        if count >= 4 {
            let both =
                base.loadUnaligned(as: UInt32.self) | base.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
            return both & 0x8080_8080 == 0
        }
        var all: UInt8 = 0
        for at in 0..<count { all |= base.load(fromByteOffset: at, as: UInt8.self) }
        return all < 0x80
    }

    /// Returns whether the bytes are valid UTF-8 (Unicode Standard, table 3-7): no overlong forms, no surrogates, no code point above U+10FFFF.
    static func isValid(_ base: UnsafeRawPointer, _ count: Int) -> Bool {
        var at = 0
        while at < count {
            if count &- at >= 16 {
                let low = base.loadUnaligned(fromByteOffset: at, as: UInt64.self)
                let high = base.loadUnaligned(fromByteOffset: at &+ 8, as: UInt64.self)
                if (low | high) & 0x8080_8080_8080_8080 == 0 {
                    at &+= 16
                    continue
                }
            }
            if count &- at >= 8 {
                let high = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: at, as: UInt64.self)) & 0x8080_8080_8080_8080
                // Skips to the first byte that is not ASCII.
                at &+= high == 0 ? 8 : high.trailingZeroBitCount &>> 3
                if high == 0 { continue }
            }
            let first = base.load(fromByteOffset: at, as: UInt8.self)
            if first < 0x80 {
                at &+= 1
                continue
            }
            let left = count &- at
            if first >= 0xc2 && first <= 0xdf {
                guard left >= 2, isContinuation(base, at &+ 1) else { return false }
                at &+= 2
            } else if first >= 0xe0 && first <= 0xef {
                guard left >= 3 else { return false }
                let second = base.load(fromByteOffset: at &+ 1, as: UInt8.self)
                let lowest: UInt8 = first == 0xe0 ? 0xa0 : 0x80
                let highest: UInt8 = first == 0xed ? 0x9f : 0xbf
                guard second >= lowest, second <= highest, isContinuation(base, at &+ 2) else { return false }
                at &+= 3
            } else if first >= 0xf0 && first <= 0xf4 {
                guard left >= 4 else { return false }
                let second = base.load(fromByteOffset: at &+ 1, as: UInt8.self)
                let lowest: UInt8 = first == 0xf0 ? 0x90 : 0x80
                let highest: UInt8 = first == 0xf4 ? 0x8f : 0xbf
                guard second >= lowest, second <= highest, isContinuation(base, at &+ 2), isContinuation(base, at &+ 3) else {
                    return false
                }
                at &+= 4
            } else {
                return false
            }
        }
        return true
    }

    @inline(__always)
    private static func isContinuation(_ base: UnsafeRawPointer, _ at: Int) -> Bool {
        base.load(fromByteOffset: at, as: UInt8.self) & 0xc0 == 0x80
    }
}
