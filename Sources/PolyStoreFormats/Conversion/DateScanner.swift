/// A parser for the parts of a date.
struct DateScanner {
    let bytes: UnsafeBufferPointer<UInt8>
    var index = 0
    var failed = false

    init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    var isAtEnd: Bool { index == bytes.count }

    mutating func skip(_ byte: UInt8) -> Bool {
        guard index < bytes.count, bytes[index] == byte else { return false }
        index += 1
        return true
    }

    /// Reads exactly `count` digits.
    mutating func number(_ count: Int) -> Int? { number(count, count) }

    /// Reads at least `least` and at most `most` digits. `most` is at most 18.
    mutating func number(_ least: Int, _ most: Int) -> Int? {
        let start = index
        var value = 0
        while index < bytes.count, index - start < most, bytes[index] &- 48 < 10 {
            value = value * 10 + Int(bytes[index] - 48)
            index += 1
        }
        return index - start >= least ? value : nil
    }

    /// Reads a year of four digits, or of four to seven digits after a sign.
    mutating func year() -> Int? {
        if skip(UInt8(ascii: "+")) { return number(4, 7) }
        if skip(UInt8(ascii: "-")) { return number(4, 7).map { -$0 } }
        return number(4)
    }

    /// Reads all digits and returns their values.
    mutating func digits() -> ArraySlice<UInt8> {
        var digits: ArraySlice<UInt8> = []
        while index < bytes.count, bytes[index] &- 48 < 10 {
            digits.append(bytes[index] - 48)
            index += 1
        }
        return digits
    }

    /// Reads `Z`, `+02:00`, `+0200` or `+02` and returns the seconds east of UTC. Sets ``failed`` for anything else.
    mutating func zone() -> Int? {
        if skip(UInt8(ascii: "Z")) || skip(UInt8(ascii: "z")) { return 0 }
        let isNegative = index < bytes.count && bytes[index] == UInt8(ascii: "-")
        guard skip(UInt8(ascii: "+")) || skip(UInt8(ascii: "-")), let hours = number(2), hours < 24 else {
            failed = true
            return nil
        }
        var minutes = 0
        let hasColon = skip(UInt8(ascii: ":"))
        if hasColon || (index < bytes.count && bytes[index] &- 48 < 10) {
            guard let value = number(2), value < 60 else {
                failed = true
                return nil
            }
            minutes = value
        }
        return (hours * 60 + minutes) * (isNegative ? -60 : 60)
    }

    /// Reads one of the English names, ignoring case, and returns its index. A name must precede its own prefixes in the list.
    mutating func name(_ names: [String]) -> Int? {
        for (position, name) in names.enumerated() where bytes.count - index >= name.utf8.count {
            let matches = zip(name.utf8, bytes[index...]).allSatisfy { $0 | 0x20 == $1 | 0x20 }
            if matches {
                index += name.utf8.count
                return position
            }
        }
        return nil
    }
}
