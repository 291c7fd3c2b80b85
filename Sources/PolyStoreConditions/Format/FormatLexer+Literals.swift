import PolyStoreBackend

// MARK: - Texts

extension FormatLexer {
    /// Reads a quoted token up to the closing quote. A prefix byte before the opening quote may change its kind.
    func quoted(_ kind: FormatToken.Kind, from start: Int) throws -> FormatToken {
        let opening = kind == .text ? start : start + 1
        let quote = bytes[opening]
        var end = opening + 1
        while end < bytes.count {
            switch bytes[end] {
            case quote: return token(kind, end + 1 - start)
            case UInt8(ascii: "\\"): end += 2
            default: end += 1
            }
        }
        throw error("The text that begins here has no closing \(Unicode.Scalar(quote)).", at: opening..<opening + 1)
    }

    /// Returns the content of a quoted token with escapes replaced.
    /// - Parameter range: the range of the token, including the quotes.
    func unescaped(_ range: Range<Int>) throws -> String {
        let inner = range.lowerBound + 1..<range.upperBound - 1
        guard bytes[inner].contains(UInt8(ascii: "\\")) else { return text(of: inner) }
        var result: [UInt8] = []
        result.reserveCapacity(inner.count)
        var at = inner.lowerBound
        while at < inner.upperBound {
            if bytes[at] == UInt8(ascii: "\\") {
                let (scalar, length) = try escape(at, end: inner.upperBound)
                result.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
                at += length
            } else {
                result.append(bytes[at])
                at += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private func escape(_ start: Int, end: Int) throws -> (Unicode.Scalar, Int) {
        switch byte(start + 1) {
        case UInt8(ascii: "\\"), UInt8(ascii: "'"), UInt8(ascii: "\""): return (Unicode.Scalar(bytes[start + 1]), 2)
        case UInt8(ascii: "n"): return ("\n", 2)
        case UInt8(ascii: "t"): return ("\t", 2)
        case UInt8(ascii: "r"): return ("\r", 2)
        case UInt8(ascii: "x"): return (Unicode.Scalar(UInt8(try hexadecimal(2, at: start, end: end))), 4)
        case UInt8(ascii: "u"): return try unicodeEscape(start, end: end)
        default:
            let length = bytes[start + 1] < 0x80 ? 1 : scalar(at: start + 1).1
            let name = text(of: start + 1..<start + 1 + length)
            throw error(
                "\"\\\(name)\" is not an escape; known are \\\\ \\\" \\' \\n \\r \\t \\uXXXX \\xXX. Write \\\\ for a backslash.",
                at: start..<start + 1 + length)
        }
    }

    /// Decodes `\uXXXX`, or a surrogate pair of two escapes for scalars above U+FFFF.
    private func unicodeEscape(_ start: Int, end: Int) throws -> (Unicode.Scalar, Int) {
        let first = try hexadecimal(4, at: start, end: end)
        if let scalar = Unicode.Scalar(first) { return (scalar, 6) }
        if first < 0xdc00, byte(start + 6) == UInt8(ascii: "\\"), byte(start + 7) == UInt8(ascii: "u") {
            let second = try hexadecimal(4, at: start + 6, end: end)
            if second & 0xfc00 == 0xdc00, let scalar = Unicode.Scalar(0x10000 + (first & 0x3ff) << 10 + second & 0x3ff) {
                return (scalar, 12)
            }
        }
        throw error("\(text(of: start..<start + 6)) is half a surrogate pair; the other half is not beside it.", at: start..<start + 6)
    }

    /// Decodes the given number of digits after the backslash and the letter of an escape.
    private func hexadecimal(_ digits: Int, at start: Int, end: Int) throws -> UInt32 {
        var value: UInt32 = 0
        for at in start + 2..<start + 2 + digits {
            guard at < end, let digit = Self.digit(bytes[at]), digit < 16 else {
                throw error(
                    "\(text(of: start..<start + 2)) needs \(digits) hexadecimal digits.",
                    at: start..<min(at, end))
            }
            value = value << 4 | UInt32(digit)
        }
        return value
    }

    /// Returns the value of a digit in any radix up to 36.
    private static func digit(_ byte: UInt8) -> UInt8? {
        if isDigit(byte) { return byte - UInt8(ascii: "0") }
        let letter = (byte | 0x20) &- UInt8(ascii: "a")
        return letter < 26 ? letter + 10 : nil
    }
}

// MARK: - Numbers

extension FormatLexer {
    /// Reads a number. Takes every byte that could belong to it, so that the errors for `5abc` and `1.2.3` show the whole text.
    func number() throws -> FormatToken {
        let start = position
        var end = start
        while true {
            let byte = byte(end)
            let isSign = byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
            if Self.isDigit(byte) || byte == UInt8(ascii: ".") || isSign && isExponent(end - 1, of: start) {
                end += 1
            } else {
                let length = wordLength(at: end)
                if length == 0 { break }
                end += length
            }
        }
        let range = start..<end
        if radix(of: range) != nil || bytes[range].allSatisfy(Self.isDigit) { return token(.integer, end - start) }
        guard isReal(range) else { throw error("\(text(of: range).forError) is not a number.", at: range) }
        return token(.real, end - start)
    }

    /// Returns the value of an integer token. Throws if it exceeds 64 bits.
    func integer(_ range: Range<Int>) throws -> UInt64 {
        let radix = radix(of: range)
        let digits = bytes[radix == nil ? range : range.lowerBound + 2..<range.upperBound]
        if digits.isEmpty { throw error("\(text(of: range).forError) has no digits.", at: range) }
        var value: UInt64 = 0
        for byte in digits {
            guard let digit = Self.digit(byte), digit < radix ?? 10 else {
                throw error("\(text(of: range).forError) is not a number in base \(radix ?? 10).", at: range)
            }
            let (product, overflows) = value.multipliedReportingOverflow(by: UInt64(radix ?? 10))
            let (sum, overflowsToo) = product.addingReportingOverflow(UInt64(digit))
            if overflows || overflowsToo {
                throw error("The number is too great: integers have 64 bits, and \(UInt64.max) is the greatest.", at: range)
            }
            value = sum
        }
        return value
    }

    func real(_ range: Range<Int>) throws -> Double {
        let text = text(of: range)
        guard let value = Double(text) else { throw error("\(text.forError) is not a number.", at: range) }
        guard value.isFinite else {
            throw error("The number is too great: \(Double.greatestFiniteMagnitude) is the greatest real.", at: range)
        }
        return value
    }

    private func radix(of range: Range<Int>) -> UInt8? {
        guard bytes[range.lowerBound] == UInt8(ascii: "0") else { return nil }
        switch byte(range.lowerBound + 1) | 0x20 {
        case UInt8(ascii: "x"): return 16
        case UInt8(ascii: "o"): return 8
        case UInt8(ascii: "b"): return 2
        default: return nil
        }
    }

    /// Returns whether a sign after this byte belongs to the number: true for the `e` of `1.5e-3`, false for that of `0x1e-3`, a subtraction.
    private func isExponent(_ at: Int, of start: Int) -> Bool {
        at > start && bytes[at] | 0x20 == UInt8(ascii: "e") && radix(of: start..<at) == nil
    }

    /// Returns whether the bytes are digits with a dot among or before them, and an optional exponent.
    private func isReal(_ range: Range<Int>) -> Bool {
        var at = range.lowerBound
        func skipDigits() -> Bool {
            let first = at
            while at < range.upperBound, Self.isDigit(bytes[at]) { at += 1 }
            return at > first
        }
        let whole = skipDigits()
        if byte(at) == UInt8(ascii: ".") {
            at += 1
            guard skipDigits() else { return false }
        } else if !whole {
            return false
        }
        if at < range.upperBound, bytes[at] | 0x20 == UInt8(ascii: "e") {
            at += 1
            if at < range.upperBound, bytes[at] == UInt8(ascii: "+") || bytes[at] == UInt8(ascii: "-") { at += 1 }
            guard skipDigits() else { return false }
        }
        return at == range.upperBound
    }
}
