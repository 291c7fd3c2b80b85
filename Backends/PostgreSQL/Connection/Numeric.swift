import PolyStoreBackend

/// PostgreSQL's binary format of `numeric`, for unsigned integers of 64 bits, which have no type of their own there.
///
/// The format has digits of base 10,000: their number, the weight of the first one, the sign, the number of decimal places, the digits.
enum Numeric {
    static func append(_ value: UInt64, to buffer: ByteBuffer) {
        var digits: [Int16] = []
        var rest = value
        while rest > 0 {
            digits.append(Int16(rest % 10_000))
            rest /= 10_000
        }
        let weight = Int16(max(digits.count - 1, 0))
        // Zeros at the end are not stored.
        let zeros = digits.prefix { $0 == 0 }.count
        digits.removeFirst(zeros)
        buffer.append(Int16(digits.count))
        buffer.append(weight)
        buffer.append(0 as Int16)
        buffer.append(0 as Int16)
        for digit in digits.reversed() { buffer.append(digit) }
    }

    /// Returns the value; nil for a number that is not an unsigned integer of 64 bits.
    static func unsigned(_ bytes: UnsafeRawBufferPointer) -> UInt64? {
        func word(_ index: Int) -> Int? {
            guard bytes.count >= 2 * index + 2 else { return nil }
            return Int(Int16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2 * index, as: Int16.self)))
        }
        guard let count = word(0), let weight = word(1), word(2) == 0, count >= 0, bytes.count == 8 + 2 * count else { return nil }
        guard count > 0 else { return 0 }
        guard count <= weight + 1, weight < 5 else { return nil }
        var value: UInt64 = 0
        for position in 0...weight {
            let digit = position < count ? word(4 + position) ?? -1 : 0
            guard (0..<10_000).contains(digit) else { return nil }
            let (product, isTooLarge) = value.multipliedReportingOverflow(by: 10_000)
            let (sum, exceeds) = product.addingReportingOverflow(UInt64(digit))
            guard !isTooLarge, !exceeds else { return nil }
            value = sum
        }
        return value
    }
}
