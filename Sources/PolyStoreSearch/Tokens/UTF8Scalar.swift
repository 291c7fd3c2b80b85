/// Characters in UTF-8.
enum UTF8Scalar {
    /// The result of ``decode(_:_:_:)`` for bytes that are not UTF-8: a character that is in no word.
    static let invalid: UInt32 = 0xfffd

    /// Returns the character at an offset and the number of its bytes. A byte that begins no valid character is one invalid character.
    @inline(__always)
    static func decode(_ text: UnsafePointer<UInt8>, _ offset: Int, _ count: Int) -> (scalar: UInt32, length: Int) {
        let first = UInt32(text[offset])
        if first < 0x80 { return (first, 1) }
        if first < 0xe0 {
            guard first >= 0xc2, offset &+ 1 < count else { return (invalid, 1) }
            let second = UInt32(text[offset &+ 1])
            return second & 0xc0 == 0x80 ? ((first & 0x1f) << 6 | second & 0x3f, 2) : (invalid, 1)
        }
        if first < 0xf0 {
            guard offset &+ 2 < count else { return (invalid, 1) }
            let second = UInt32(text[offset &+ 1])
            let third = UInt32(text[offset &+ 2])
            let scalar = (first & 0xf) << 12 | (second & 0x3f) << 6 | third & 0x3f
            let isValid = second & 0xc0 == 0x80 && third & 0xc0 == 0x80 && scalar >= 0x800 && scalar & 0xf800 != 0xd800
            return isValid ? (scalar, 3) : (invalid, 1)
        }
        guard first < 0xf5, offset &+ 3 < count else { return (invalid, 1) }
        let second = UInt32(text[offset &+ 1])
        let third = UInt32(text[offset &+ 2])
        let fourth = UInt32(text[offset &+ 3])
        let scalar = (first & 7) << 18 | (second & 0x3f) << 12 | (third & 0x3f) << 6 | fourth & 0x3f
        let isValid = second & 0xc0 == 0x80 && third & 0xc0 == 0x80 && fourth & 0xc0 == 0x80 && scalar >= 0x10000 && scalar < 0x110000
        return isValid ? (scalar, 4) : (invalid, 1)
    }

    /// Returns the number of bytes of a character.
    @inline(__always)
    static func length(_ scalar: UInt32) -> Int { scalar < 0x80 ? 1 : scalar < 0x800 ? 2 : scalar < 0x10000 ? 3 : 4 }

    /// Writes a character. Returns the number of its bytes.
    @inline(__always)
    static func encode(_ scalar: UInt32, _ bytes: UnsafeMutablePointer<UInt8>) -> Int {
        let tail = UInt8(truncatingIfNeeded: 0x80 | scalar & 0x3f)
        if scalar < 0x80 {
            bytes[0] = UInt8(truncatingIfNeeded: scalar)
            return 1
        }
        if scalar < 0x800 {
            bytes[0] = UInt8(truncatingIfNeeded: 0xc0 | scalar >> 6)
            bytes[1] = tail
            return 2
        }
        let middle = UInt8(truncatingIfNeeded: 0x80 | scalar >> 6 & 0x3f)
        if scalar < 0x10000 {
            bytes[0] = UInt8(truncatingIfNeeded: 0xe0 | scalar >> 12)
            bytes[1] = middle
            bytes[2] = tail
            return 3
        }
        bytes[0] = UInt8(truncatingIfNeeded: 0xf0 | scalar >> 18)
        bytes[1] = UInt8(truncatingIfNeeded: 0x80 | scalar >> 12 & 0x3f)
        bytes[2] = middle
        bytes[3] = tail
        return 4
    }

    /// Returns the number of bytes of a space or control character at an offset, 0 for other characters.
    static func spaceLength<Bytes: RandomAccessCollection<UInt8>>(_ bytes: Bytes, at offset: Int) -> Int where Bytes.Index == Int {
        let byte = bytes[offset]
        if byte <= 0x20 || byte == 0x7f { return 1 }
        guard byte >= 0xc2 else { return 0 }
        let end = bytes.endIndex
        if byte == 0xc2 { return offset + 1 < end && (bytes[offset + 1] == 0xa0 || bytes[offset + 1] == 0x85) ? 2 : 0 }
        guard byte >= 0xe1, byte <= 0xe3, offset + 2 < end else { return 0 }
        switch (byte, bytes[offset + 1], bytes[offset + 2]) {
        case (0xe2, 0x80, 0x80...0x8a), (0xe2, 0x80, 0xa8...0xa9), (0xe2, 0x80, 0xaf), (0xe2, 0x81, 0x9f), (0xe3, 0x80, 0x80): return 3
        default: return 0
        }
    }
}
