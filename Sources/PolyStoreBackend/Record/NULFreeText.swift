/// An encoding of text for engines that cannot hold the character NUL, such as PostgreSQL.
///
/// U+0000 becomes U+0001 U+0001, and U+0001 becomes U+0001 U+0002. Text without these two characters, which is nearly all text, is unchanged. Encoded texts have the order of the
/// original ones when their UTF-8 bytes are compared, they are equal only if the original ones are, and a prefix remains a prefix. Lengths and patterns that match a number of
/// characters do not survive the encoding.
public enum NULFreeText {
    /// Returns the encoded form of a text, which contains no NUL.
    public static func encode(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 < 2 }) else { return text }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 8)
        for byte in text.utf8 {
            if byte < 2 { bytes.append(1) }
            bytes.append(byte < 2 ? byte + 1 : byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the text with an encoded form; nil for a text that is not the encoded form of any.
    public static func decode(_ text: String) -> String? {
        guard text.utf8.contains(where: { $0 < 2 }) else { return text }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        var isEscaped = false
        for byte in text.utf8 {
            if isEscaped {
                guard byte == 1 || byte == 2 else { return nil }
                bytes.append(byte - 1)
                isEscaped = false
            } else if byte == 1 {
                isEscaped = true
            } else {
                guard byte != 0 else { return nil }
                bytes.append(byte)
            }
        }
        return isEscaped ? nil : String(decoding: bytes, as: UTF8.self)
    }
}
