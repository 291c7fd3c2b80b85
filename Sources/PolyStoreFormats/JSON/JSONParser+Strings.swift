extension JSONParser {
    /// Parses the string at the current quote.
    @inline(__always)
    func string(_ cursor: inout JSONCursor, _ current: Container) throws(JSONStop) -> String {
        let start = cursor.index &+ 1
        let stop = ByteScan.plainStringEnd(cursor.bytes, start, cursor.end)
        if stop < cursor.end, cursor.bytes[stop] == UInt8(ascii: "\"") {
            cursor.index = stop &+ 1
            return String(decoding: UnsafeBufferPointer(start: cursor.bytes + start, count: stop &- start), as: UTF8.self)
        }
        return try longString(&cursor, current, start, stop)
    }

    /// Parses a string with escapes or non-ASCII characters.
    ///
    /// - Parameter stop: The end of the plain part of the string.
    @inline(never)
    private func longString(_ cursor: inout JSONCursor, _ current: Container, _ start: Int, _ stop: Int) throws(JSONStop) -> String {
        let bytes = cursor.bytes
        var index = stop
        // If an escape was found, `scratch` contains the string up to this offset.
        var copied = start
        var hasEscapes = false
        while true {
            index = ByteScan.plainStringEnd(bytes, index, cursor.end)
            guard index < cursor.end else { throw cursor.cutOff }
            switch bytes[index] {
            case UInt8(ascii: "\""):
                cursor.index = index + 1
                let rest = UnsafeBufferPointer(start: bytes + copied, count: index - copied)
                guard hasEscapes else { return String(decoding: rest, as: UTF8.self) }
                scratch.append(contentsOf: rest)
                return String(decoding: scratch, as: UTF8.self)
            case UInt8(ascii: "\\"):
                if !hasEscapes { scratch.removeAll(keepingCapacity: scratch.capacity < 1 << 20) }
                hasEscapes = true
                scratch.append(contentsOf: UnsafeBufferPointer(start: bytes + copied, count: index - copied))
                cursor.index = index
                try escape(&cursor, current)
                index = cursor.index
                copied = index
            case 0..<0x20:
                cursor.index = index
                throw JSONStop(
                    reason: "\(JSONCursor.name(of: bytes[index])) in a string must be escaped", offset: index)
            default:
                let length = ByteScan.utf8Length(bytes, index, cursor.end)
                if length < 0 { throw cursor.cutOff }
                if length == 0 {
                    soft(.encoding, "\(JSONCursor.name(of: bytes[index])) is not valid UTF-8", index, current)
                }
                index += max(length, 1)
            }
        }
    }

    /// Parses the escape at the current backslash into `scratch`.
    private func escape(_ cursor: inout JSONCursor, _ current: Container) throws(JSONStop) {
        let start = cursor.index
        guard start + 1 < cursor.end else { throw cursor.cutOff }
        cursor.index = start + 2
        switch cursor.bytes[start + 1] {
        case UInt8(ascii: "\""): scratch.append(UInt8(ascii: "\""))
        case UInt8(ascii: "\\"): scratch.append(UInt8(ascii: "\\"))
        case UInt8(ascii: "/"): scratch.append(UInt8(ascii: "/"))
        case UInt8(ascii: "b"): scratch.append(0x08)
        case UInt8(ascii: "f"): scratch.append(0x0c)
        case UInt8(ascii: "n"): scratch.append(0x0a)
        case UInt8(ascii: "r"): scratch.append(0x0d)
        case UInt8(ascii: "t"): scratch.append(0x09)
        case UInt8(ascii: "u"):
            var scalar = try hexadecimal(&cursor)
            if scalar & 0xfc00 == 0xd800 {
                // The second half of a surrogate pair must follow as another escape.
                guard cursor.index < cursor.end else { throw cursor.cutOff }
                if cursor.byte == UInt8(ascii: "\\") {
                    guard cursor.index + 1 < cursor.end else { throw cursor.cutOff }
                    if cursor.bytes[cursor.index + 1] == UInt8(ascii: "u") {
                        let second = cursor.index
                        cursor.index += 2
                        let low = try hexadecimal(&cursor)
                        if low & 0xfc00 == 0xdc00 {
                            scalar = 0x10000 + (scalar & 0x3ff) << 10 + low & 0x3ff
                        } else {
                            cursor.index = second
                        }
                    }
                }
            }
            if let character = Unicode.Scalar(scalar) {
                scratch.append(contentsOf: UTF8.encode(character).unsafelyUnwrapped)
            } else {
                soft(
                    .encoding, "\\u\(String(scalar, radix: 16)) is half of a surrogate pair, which does not denote a character", start,
                    current)
            }
        default:
            cursor.index = start
            throw JSONStop(reason: "\(JSONCursor.name(of: cursor.bytes[start + 1])) after a backslash is not an escape", offset: start + 1)
        }
    }

    private func hexadecimal(_ cursor: inout JSONCursor) throws(JSONStop) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard cursor.index < cursor.end else { throw cursor.cutOff }
            let digit: UInt8
            switch cursor.byte {
            case 48...57: digit = cursor.byte - 48
            case 65...70: digit = cursor.byte - 55
            case 97...102: digit = cursor.byte - 87
            default: throw cursor.unexpected("four hexadecimal digits after \\u")
            }
            value = value << 4 | UInt32(digit)
            cursor.index += 1
        }
        return value
    }
}
