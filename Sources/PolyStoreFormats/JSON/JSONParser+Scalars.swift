extension JSONParser {
    /// Parses the number at the current byte, which is a digit or a minus sign.
    @inline(__always)
    func number(_ cursor: inout JSONCursor) throws(JSONStop) -> JSONNumber {
        // Fast path for integers of up to 18 digits, which cannot overflow Int64.
        let start = cursor.index
        let isNegative = cursor.byte == UInt8(ascii: "-")
        let first = isNegative ? start &+ 1 : start
        let limit = min(cursor.end, first &+ 19)
        var index = first
        var value: Int64 = 0
        while index < limit {
            let digit = cursor.bytes[index] &- 48
            if digit > 9 { break }
            value = value &* 10 &+ Int64(digit)
            index &+= 1
        }
        if index < limit, index > first {
            let after = cursor.bytes[index]
            let isInteger = after != UInt8(ascii: ".") && after | 0x20 != UInt8(ascii: "e")
            let hasZeroFirst = cursor.bytes[first] == 48 && (index &- first > 1 || isNegative)
            if isInteger, !hasZeroFirst {
                cursor.index = index
                return JSONNumber(isNegative ? 0 &- value : value)
            }
        }
        return try longNumber(&cursor)
    }

    @inline(never)
    private func longNumber(_ cursor: inout JSONCursor) throws(JSONStop) -> JSONNumber {
        let start = cursor.index
        let buffer = UnsafeBufferPointer(start: cursor.bytes, count: cursor.end)
        guard let end = NumberScanner.end(of: buffer, from: start) else {
            // Incomplete if all remaining bytes can be part of a number.
            var index = start
            while index < cursor.end, Self.isInNumber(cursor.bytes[index]) { index += 1 }
            if index == cursor.end { throw cursor.cutOff }
            throw JSONStop(reason: "expected a number, found \(JSONCursor.name(of: cursor.bytes[index])) in it", offset: index)
        }
        if end < cursor.end {
            // Rejects 012 and 1.2.3: a number must not be followed by a byte that can occur in a number.
            if Self.isInNumber(cursor.bytes[end]) {
                throw JSONStop(reason: "expected the end of a number, found \(JSONCursor.name(of: cursor.bytes[end]))", offset: end)
            }
        } else if !cursor.isComplete {
            throw cursor.cutOff
        }
        cursor.index = end
        return JSONNumber(validated: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[start..<end]))
    }

    private static func isInNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): true
        default: false
        }
    }

    /// Parses `true`, `false` or `null`.
    @inline(__always)
    func literal(_ text: StaticString, _ value: JSONValue, _ cursor: inout JSONCursor) throws(JSONStop) -> JSONValue {
        let count = text.utf8CodeUnitCount
        var offset = 0
        while offset < count {
            guard cursor.index &+ offset < cursor.end else { throw cursor.cutOff }
            guard cursor.bytes[cursor.index &+ offset] == text.utf8Start[offset] else {
                throw JSONStop(reason: "expected \(text)", offset: cursor.index + offset)
            }
            offset &+= 1
        }
        cursor.index &+= count
        return value
    }
}
