/// How the text around and in highlights is written.
public enum SearchMarkup: Sendable, Hashable {
    /// As it is.
    case plain
    /// With `&`, `<`, `>`, `"` and `'` written as references of HTML. Prefixes and suffixes of highlights are not changed.
    case html

    /// Writes a text with marks around ranges.
    func write(_ text: some Collection<UInt8>, marking ranges: [Range<Int>], prefix: String, suffix: String) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(text.count + ranges.count * (prefix.utf8.count + suffix.utf8.count))
        var next = 0
        for (offset, byte) in text.enumerated() {
            // Ranges are ascending, not empty, and do not touch one another.
            if next < ranges.count, offset == ranges[next].upperBound {
                result += suffix.utf8
                next += 1
            }
            if next < ranges.count, offset == ranges[next].lowerBound { result += prefix.utf8 }
            append(byte, to: &result)
        }
        if next < ranges.count { result += suffix.utf8 }
        return String(decoding: result, as: UTF8.self)
    }

    private func append(_ byte: UInt8, to result: inout [UInt8]) {
        guard self == .html else { return result.append(byte) }
        switch byte {
        case UInt8(ascii: "&"): result += "&amp;".utf8
        case UInt8(ascii: "<"): result += "&lt;".utf8
        case UInt8(ascii: ">"): result += "&gt;".utf8
        case UInt8(ascii: "\""): result += "&quot;".utf8
        case UInt8(ascii: "'"): result += "&#39;".utf8
        default: result.append(byte)
        }
    }
}
