import PolyStoreBackend

/// The exact sum of the reals of a group, which the server computes in two sums of integers.
///
/// PostgreSQL's own sum of reals depends on the order of the rows. Here each value is a multiple of 2^-20, and a rest that is a multiple of 2^-82. Their sums are exact,
/// and the total is rounded once.
struct ExactSum {
    /// The sum of the multiples, in units of 2^-20.
    let high: Int128
    /// The sum of the rests, in units of 2^-82.
    let low: Int128
    /// The number of values.
    let count: Int64

    /// Returns a text in SQL for the sum of a column, which ``init(_:)`` reads; null without values.
    ///
    /// It ends with false if a value is not a number, is infinite, or has digits that the integers do not hold.
    /// - Parameter column: The name of a column of reals, which the text contains several times.
    static func sql(_ column: String) -> String {
        let fits = "abs(\(column)) < 4398046511104"
        let high = "(\(column) * 1048576::double precision)"
        let low = "(\(high) - \(high)::bigint) * 4611686018427387904::double precision"
        // A value of at least 2^-30 has no digit after 2^-82.
        let isExact = "\(fits) AND (abs(\(column)) >= 9.313225746154785e-10 OR \(column) = 0)"
        return
            "coalesce(sum(CASE WHEN \(fits) THEN \(high)::bigint END), 0) || '/' || coalesce(sum(CASE WHEN \(fits) THEN (\(low))::bigint END), 0) "
            + "|| '/' || count(\(column)) || '/' || bool_and(\(isExact))"
    }

    /// Reads the text of a group.
    /// - Returns: nil if the server cannot compute the sum.
    init?(_ text: UnsafeRawBufferPointer) {
        let parts = text.split(separator: UInt8(ascii: "/"))
        guard parts.count == 4, let high = Self.integer(parts[0]), let low = Self.integer(parts[1]), let count = Self.integer(parts[2]),
            parts[3].elementsEqual("true".utf8)
        else { return nil }
        (self.high, self.low, self.count) = (high, low, Int64(clamping: count))
    }

    /// Returns the integer that a text of digits represents; nil for another text, and for more than 38 digits.
    private static func integer(_ text: UnsafeRawBufferPointer.SubSequence) -> Int128? {
        let isNegative = text.first == UInt8(ascii: "-")
        let digits = isNegative ? text.dropFirst() : text
        guard (1...38).contains(digits.count) else { return nil }
        var value: Int128 = 0
        for byte in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            value = value * 10 + Int128(byte - UInt8(ascii: "0"))
        }
        return isNegative ? -value : value
    }

    /// The sum, rounded to the nearest real.
    var total: Double {
        let carried = high + (low >> 62)
        let rest = low & (1 << 62 - 1)
        if carried.magnitude < 1 << 64 { return Double(carried << 62 | rest) * 0x1p-82 }
        // The number has more digits than a real, and the last one indicates whether others follow.
        return Double(carried << 1 | (rest == 0 ? 0 : 1)) * 0x1p-21
    }
}
