/// A scanner for JSON numbers.
enum NumberScanner {
    /// Returns the offset after the number that begins at `start`, or nil if no valid number begins there.
    ///
    /// A number at the end of the bytes may be incomplete; the caller knows whether more bytes follow.
    @inline(__always)
    static func end(of bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        let count = bytes.count
        var index = start
        if index < count, bytes[index] == UInt8(ascii: "-") { index += 1 }
        guard index < count else { return nil }
        if bytes[index] == UInt8(ascii: "0") {
            index += 1
        } else {
            guard let end = digits(bytes, index) else { return nil }
            index = end
        }
        if index < count, bytes[index] == UInt8(ascii: ".") {
            guard let end = digits(bytes, index + 1) else { return nil }
            index = end
        }
        if index < count, bytes[index] | 0x20 == UInt8(ascii: "e") {
            index += 1
            if index < count, bytes[index] == UInt8(ascii: "+") || bytes[index] == UInt8(ascii: "-") { index += 1 }
            guard let end = digits(bytes, index) else { return nil }
            index = end
        }
        return index
    }

    /// Returns the offset after one or more digits, or nil if there is none.
    @inline(__always)
    private static func digits(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int? {
        var index = start
        while index < bytes.count, bytes[index] &- 48 < 10 { index += 1 }
        return index > start ? index : nil
    }

    /// Returns the integer that the bytes of a valid number represent, or nil for a fraction, an exponent, `-0`, or an integer out of range.
    @inline(__always)
    static func storage(of bytes: UnsafeRawBufferPointer) -> JSONNumber.Storage? {
        let isNegative = bytes[0] == UInt8(ascii: "-")
        let first = isNegative ? 1 : 0
        guard bytes.count - first <= 20 else { return nil }
        var value: UInt64 = 0
        for index in first..<bytes.count {
            let digit = bytes[index] &- 48
            guard digit < 10 else { return nil }
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(UInt64(digit))
            if overflow || carry { return nil }
            value = sum
        }
        if isNegative {
            guard value > 0, value <= Int64.min.magnitude else { return nil }
            return .int64(Int64(truncatingIfNeeded: 0 &- value))
        }
        return value <= UInt64(Int64.max) ? .int64(Int64(value)) : .uint64(value)
    }
}
