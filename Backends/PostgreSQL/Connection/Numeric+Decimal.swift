import PolyStoreBackend

/// Decimals in PostgreSQL's binary format, from and to the ordered bytes of records; see `Decimal.orderedBytes`.
extension Numeric {
    private static let negative: UInt16 = 0x4000
    private static let nan: UInt16 = 0xc000

    /// Appends a decimal.
    /// - Parameter bytes: The ordered bytes of the decimal.
    /// - Returns: `false`, without appending, for bytes that are not those of a decimal.
    static func append(decimal bytes: UnsafeRawBufferPointer, to buffer: ByteBuffer) -> Bool {
        guard let first = bytes.first else { return false }
        switch (first, bytes.count) {
        case (0x7e, 1): write([], weight: 0, sign: nan, scale: 0, to: buffer)
        case (0x80, 1): write([], weight: 0, sign: 0, scale: 0, to: buffer)
        case (0x81, 5...), (0x7f, 5...):
            let flip: UInt8 = first == 0x7f ? 0xff : 0
            let exponent = Int(bytes[1] ^ flip) << 8 | Int(bytes[2] ^ flip) - 0x8000
            let pairs = bytes[3..<bytes.count - 1].map { Int($0 ^ flip) - 1 }
            guard bytes[bytes.count - 1] ^ flip == 0, pairs.allSatisfy({ (0..<100).contains($0) }), isDecimal(pairs, exponent)
            else { return false }
            // The first pair has the factor 100^(exponent − 1), and a digit of the server the factor 10,000^n.
            var digits: [Int16] = []
            for (index, pair) in pairs.enumerated() {
                let power = exponent - 1 - index
                if power & 1 != 0 {
                    digits.append(Int16(pair * 100))
                } else if index == 0 {
                    digits.append(Int16(pair))
                } else {
                    digits[digits.count - 1] += Int16(pair)
                }
            }
            let places = max(0, 2 * (pairs.count - exponent) - (pairs.last.map { $0 % 10 == 0 } ?? false ? 1 : 0))
            write(digits, weight: (exponent - 1) >> 1, sign: flip == 0 ? 0 : negative, scale: places, to: buffer)
        default: return false
        }
        return true
    }

    private static func write(_ digits: [Int16], weight: Int, sign: UInt16, scale: Int, to buffer: ByteBuffer) {
        buffer.append(Int16(digits.count))
        buffer.append(Int16(clamping: weight))
        buffer.append(sign)
        buffer.append(Int16(clamping: scale))
        for digit in digits { buffer.append(digit) }
    }

    /// Returns whether digits of base 100 are those of a number that the server can hold. The first and the last digit must not be 0.
    ///
    /// The range of `Decimal` is smaller. Records keep numbers beyond it too.
    private static func isDecimal(_ pairs: [Int], _ exponent: Int) -> Bool {
        guard let first = pairs.first, let last = pairs.last, first != 0, last != 0 else { return false }
        return pairs.count <= 100 && (-4000...4000).contains(exponent)
    }

    /// Returns the ordered bytes of a number of the server; nil for one that has no such bytes.
    static func orderedBytes(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        func word(_ index: Int) -> UInt16? {
            guard bytes.count >= 2 * index + 2 else { return nil }
            return UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self))
        }
        guard let count = word(0), let weight = word(1), let sign = word(2), bytes.count == 8 + 2 * Int(count) else { return nil }
        if sign == nan { return [0x7e] }
        guard sign == 0 || sign == negative else { return nil }
        var pairs: [Int] = []
        for index in 0..<Int(count) {
            guard let digit = word(4 + index), digit < 10_000 else { return nil }
            pairs += [Int(digit) / 100, Int(digit) % 100]
        }
        var exponent = 2 * (Int(Int16(bitPattern: weight)) + 1)
        let zeros = pairs.prefix { $0 == 0 }.count
        pairs.removeFirst(zeros)
        exponent -= zeros
        while pairs.last == 0 { pairs.removeLast() }
        guard !pairs.isEmpty else { return [0x80] }
        let biased = UInt16(clamping: exponent + 0x8000)
        var result = [UInt8(biased >> 8), UInt8(biased & 255)]
        result += pairs.map { UInt8($0 + 1) }
        result.append(0)
        result = sign == 0 ? [0x81] + result : [0x7f] + result.map { ~$0 }
        return isDecimal(pairs, exponent) ? result : nil
    }
}

extension Parameter {
    /// Returns a decimal; nil for bytes that are not the ordered bytes of one.
    static func decimal(_ bytes: [UInt8]) -> Parameter? {
        let buffer = ByteBuffer(capacity: 32)
        return bytes.withUnsafeBytes { Numeric.append(decimal: $0, to: buffer) }
            ? Parameter(oid: ParameterType.numeric.oid, buffer: buffer) : nil
    }
}
