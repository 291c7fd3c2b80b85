/// The text of store URLs in messages, also of malformed ones.
enum StoreURLText {
    /// Replaces a secret.
    static let mark = "***"

    private static let secretNames = ["pass", "pwd", "secret", "token", "key", "credential", "auth", "pin"]

    /// Returns whether the name of an option suggests that its value is a secret.
    static func isSecret(_ name: some StringProtocol) -> Bool {
        let name = name.lowercased()
        return secretNames.contains { name.contains($0) }
    }

    /// Returns a text in which every byte except letters, digits, `-`, `.`, `_`, `~` and some other characters is an escape.
    static func escaped(_ text: String, keeping others: String = "") -> String {
        var result = ""
        for byte in text.utf8 {
            let character = Character(Unicode.Scalar(byte))
            if byte < 0x80, character.isLetter || character.isNumber || "-._~".contains(character) || others.contains(character) {
                result.append(character)
            } else {
                result += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return result
    }

    /// Returns a text with its secrets replaced. Of a malformed URL, rather too much is replaced than too little.
    static func redacted(_ text: String) -> String {
        // Found in the original text, because the password and the value of an option can overlap in a malformed URL.
        var secrets = optionValues(of: text)
        if let password = password(of: text) { secrets.append(password) }
        var result = ""
        var position = text.startIndex
        for secret in secrets.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            // Otherwise it continues the one before it.
            if secret.lowerBound > position { result += text[position..<secret.lowerBound] + mark }
            position = max(position, secret.upperBound)
        }
        return result + text[position...]
    }

    /// Returns the place of the password of `//user:password@host` and of `engine:user:password@host`. The password may contain any unescaped character.
    private static func password(of text: String) -> Range<String.Index>? {
        guard let engine = text.firstIndex(of: ":") else { return nil }
        let rest = text[text.index(after: engine)...]
        let namesHost = rest.hasPrefix("//") && !rest.hasPrefix("///")
        // The query of a local path can contain an @ that belongs to no user.
        let end = namesHost ? text.endIndex : rest.firstIndex(of: "?") ?? text.endIndex
        guard let at = rest[..<end].lastIndex(of: "@"), let colon = rest[..<at].firstIndex(of: ":") else { return nil }
        return text.index(after: colon)..<at
    }

    /// Returns the places of the values of secret options, wherever a name and a `=` are. A part without a name after a secret value belongs to it: the value has
    /// an unescaped ampersand.
    private static func optionValues(of text: String) -> [Range<String.Index>] {
        var found: [Range<String.Index>] = []
        var isAfterSecret = false
        for part in text.split(omittingEmptySubsequences: false, whereSeparator: { $0 == "&" || $0 == "?" || $0 == ";" }) {
            if let equals = part.firstIndex(of: "=") {
                let name = part[..<equals]
                // A name with an escape is none that this function can judge.
                isAfterSecret = isSecret(name) || name.contains("%")
                if isAfterSecret { found.append(part.index(after: equals)..<part.endIndex) }
            } else if isAfterSecret, !part.isEmpty {
                found.append(part.startIndex..<part.endIndex)
            }
        }
        return found
    }
}
