/// Reads JSON text (RFC 8259) in place, without building a tree.
///
/// The whole text is checked. Texts are checked as bytes; whether they are UTF-8 is checked where one is read.
struct JSONScanner {
    /// The largest number of nested arrays and objects, that of `JSONDecoder`.
    static let maximumDepth = 512

    private let bytes: UnsafeRawBufferPointer
    private var at = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    // MARK: Members

    /// Returns the bytes of the member at a path of keys; nil if there is none, or the text is not valid JSON. The first of equal keys counts.
    static func member(_ keys: [[UInt8]], in bytes: UnsafeRawBufferPointer) -> Range<Int>? {
        var scanner = JSONScanner(bytes)
        var found: Range<Int>?
        scanner.skipSpace()
        guard scanner.find(keys[...], depth: 0, &found) else { return nil }
        scanner.skipSpace()
        return scanner.at == bytes.count ? found : nil
    }

    /// Scans a value and finds a member of it.
    /// - Returns: whether the value is valid.
    private mutating func find(_ keys: ArraySlice<[UInt8]>, depth: Int, _ found: inout Range<Int>?) -> Bool {
        guard let key = keys.first else {
            let start = at
            guard skipValue(depth: depth) else { return false }
            found = start..<at
            return true
        }
        guard peek() == UInt8(ascii: "{") else { return skipValue(depth: depth) }
        guard depth < Self.maximumDepth else { return false }
        at += 1
        skipSpace()
        if take(UInt8(ascii: "}")) { return true }
        var isFirst = true
        while true {
            let start = at
            guard skipText() else { return false }
            let isMatch = isFirst && equals(start..<at, key)
            skipSpace()
            guard take(UInt8(ascii: ":")) else { return false }
            skipSpace()
            if isMatch {
                isFirst = false
                guard find(keys.dropFirst(), depth: depth + 1, &found) else { return false }
            } else {
                guard skipValue(depth: depth + 1) else { return false }
            }
            skipSpace()
            if take(UInt8(ascii: "}")) { return true }
            guard take(UInt8(ascii: ",")) else { return false }
            skipSpace()
        }
    }

    /// Passes the bytes of each element of a valid array to a closure until it returns true.
    /// - Returns: whether the closure returned true; nil if the value is not an array.
    static func containsElement(
        of array: Range<Int>, in bytes: UnsafeRawBufferPointer, where isWanted: (Range<Int>) -> Bool
    ) -> Bool? {
        var scanner = JSONScanner(bytes)
        scanner.at = array.lowerBound
        guard scanner.take(UInt8(ascii: "[")) else { return nil }
        scanner.skipSpace()
        while !scanner.take(UInt8(ascii: "]")) {
            let start = scanner.at
            guard scanner.skipValue(depth: 1) else { return nil }
            if isWanted(start..<scanner.at) { return true }
            scanner.skipSpace()
            _ = scanner.take(UInt8(ascii: ","))
            scanner.skipSpace()
        }
        return false
    }

    // MARK: Values

    private func peek() -> UInt8 { at < bytes.count ? bytes[at] : 0 }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard at < bytes.count, bytes[at] == byte else { return false }
        at += 1
        return true
    }

    private mutating func skipSpace() {
        while at < bytes.count {
            switch bytes[at] {
            case 0x20, 0x0a, 0x0d, 0x09: at += 1
            default: return
            }
        }
    }

    /// Skips a value, with a loop instead of recursion.
    /// - Parameter depth: the number of arrays and objects around it.
    /// - Returns: whether the value is valid.
    private mutating func skipValue(depth: Int) -> Bool {
        // One bit for each open array or object; 1 is an object.
        var kinds = SIMD8<UInt64>()
        var open = 0
        while true {
            let byte = peek()
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                guard depth + open < Self.maximumDepth else { return false }
                at += 1
                let isObject = byte == UInt8(ascii: "{")
                let bit = UInt64(1) << UInt64(open & 63)
                if isObject { kinds[open >> 6] |= bit } else { kinds[open >> 6] &= ~bit }
                open += 1
                skipSpace()
                if take(isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
                    open -= 1
                } else {
                    if isObject { guard skipKey() else { return false } }
                    continue
                }
            case UInt8(ascii: "\""): guard skipText() else { return false }
            case UInt8(ascii: "t"): guard skipWord("true") else { return false }
            case UInt8(ascii: "f"): guard skipWord("false") else { return false }
            case UInt8(ascii: "n"): guard skipWord("null") else { return false }
            default: guard skipNumber() else { return false }
            }
            // After a value: the ends of arrays and objects, or the next value.
            while true {
                if open == 0 { return true }
                skipSpace()
                let isObject = kinds[(open - 1) >> 6] >> UInt64((open - 1) & 63) & 1 == 1
                if take(isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
                    open -= 1
                    continue
                }
                guard take(UInt8(ascii: ",")) else { return false }
                skipSpace()
                if isObject { guard skipKey() else { return false } }
                break
            }
        }
    }

    /// Skips a key with its colon.
    private mutating func skipKey() -> Bool {
        guard skipText() else { return false }
        skipSpace()
        guard take(UInt8(ascii: ":")) else { return false }
        skipSpace()
        return true
    }

    private mutating func skipWord(_ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard bytes.count - at >= count else { return false }
        for offset in 0..<count where bytes[at + offset] != word.utf8Start[offset] { return false }
        at += count
        return true
    }

    private mutating func skipDigits() -> Bool {
        let start = at
        while at < bytes.count, bytes[at] &- 0x30 < 10 { at += 1 }
        return at > start
    }

    private mutating func skipNumber() -> Bool {
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { guard skipDigits() else { return false } }
        if take(UInt8(ascii: ".")) { guard skipDigits() else { return false } }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            guard skipDigits() else { return false }
        }
        return true
    }

    private mutating func skipText() -> Bool {
        guard take(UInt8(ascii: "\"")) else { return false }
        while at < bytes.count {
            let byte = bytes[at]
            at += 1
            if byte == UInt8(ascii: "\"") { return true }
            if byte < 0x20 { return false }
            guard byte == UInt8(ascii: "\\") else { continue }
            guard at < bytes.count else { return false }
            let escape = bytes[at]
            at += 1
            if escape == UInt8(ascii: "u") {
                guard Self.unit(bytes, at) != nil else { return false }
                at += 4
            } else if Self.escaped(escape) == nil {
                return false
            }
        }
        return false
    }

    // MARK: Texts

    /// Returns the byte that an escape of two characters denotes; nil for others.
    private static func escaped(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): byte
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0c
        case UInt8(ascii: "n"): 0x0a
        case UInt8(ascii: "r"): 0x0d
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    /// Returns the number of four hexadecimal digits.
    private static func unit(_ bytes: UnsafeRawBufferPointer, _ at: Int) -> UInt32? {
        guard bytes.count - at >= 4 else { return nil }
        var unit: UInt32 = 0
        for byte in bytes[at..<(at + 4)] {
            let digit: UInt8
            switch byte {
            case 0x30...0x39: digit = byte - 0x30
            case 0x41...0x46: digit = byte - 0x37
            case 0x61...0x66: digit = byte - 0x57
            default: return nil
            }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }

    /// Returns the bytes of a valid text with quotes, without them and without escapes; nil if it contains half of a surrogate pair.
    static func text(_ text: Range<Int>, in bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        var result: [UInt8] = []
        result.reserveCapacity(text.count - 2)
        var at = text.lowerBound + 1
        let end = text.upperBound - 1
        while at < end {
            let byte = bytes[at]
            at += 1
            guard byte == UInt8(ascii: "\\") else {
                result.append(byte)
                continue
            }
            let escape = bytes[at]
            at += 1
            guard escape == UInt8(ascii: "u") else {
                result.append(escaped(escape) ?? escape)
                continue
            }
            guard var scalar = unit(bytes, at) else { return nil }
            at += 4
            if scalar & 0xfc00 == 0xd800 {
                guard end - at >= 6, bytes[at] == UInt8(ascii: "\\"), bytes[at + 1] == UInt8(ascii: "u"), let low = unit(bytes, at + 2),
                    low & 0xfc00 == 0xdc00
                else { return nil }
                at += 6
                scalar = 0x10000 + ((scalar & 0x3ff) << 10) + (low & 0x3ff)
            }
            guard let valid = Unicode.Scalar(scalar) else { return nil }
            if let encoded = UTF8.encode(valid) { result.append(contentsOf: encoded) }
        }
        return result
    }

    /// Returns whether a valid text with quotes equals a key.
    private func equals(_ text: Range<Int>, _ key: [UInt8]) -> Bool {
        let content = UnsafeRawBufferPointer(rebasing: bytes[(text.lowerBound + 1)..<(text.upperBound - 1)])
        if !content.contains(UInt8(ascii: "\\")) { return content.elementsEqual(key) }
        return Self.text(text, in: bytes).map { $0 == key } ?? false
    }
}
