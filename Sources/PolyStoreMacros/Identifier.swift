/// Names of Swift as text: plain identifiers, raw identifiers in backticks, and paths of them.
enum Identifier {
    /// Returns whether a text can be an identifier: a plain one, or a raw one in backticks.
    static func isValid(_ text: String) -> Bool { isPlain(text) || isRaw(text) }

    private static func isPlain(_ text: String) -> Bool {
        guard let first = text.first, first.isLetter || first == "_" else { return false }
        return text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
    }

    private static func isRaw(_ text: String) -> Bool {
        !text.isEmpty && !text.allSatisfy(\.isWhitespace)
            && text.unicodeScalars.allSatisfy {
                $0 != "`" && $0 != "\\" && $0.value >= 0x20 && !$0.properties.isPatternWhitespace || $0 == " "
            }
    }

    /// Returns a name as code: in backticks if it is not a plain identifier, or if it has a meaning of its own after a dot.
    static func code(_ name: String) -> String {
        isPlain(name) && !metatypeMembers.contains(name) && name != "self" && name != "init" ? name : "`\(name)`"
    }

    /// Names that the compiler reads as metatypes after a type, even in backticks.
    static let metatypeMembers: Set<String> = ["Type", "Protocol"]

    /// Returns a part of a plain identifier for a name: its letters, digits and underscores, and other characters as hexadecimal numbers.
    static func mangled(_ name: String) -> String {
        if isPlain(name) { return name }
        return name.unicodeScalars.reduce(into: "") { text, scalar in
            let isPart = scalar == "_" || scalar.properties.isXIDContinue
            text += isPart ? String(scalar) : "$\(String(scalar.value, radix: 16))$"
        }
    }

    /// Returns the names of a path such as ``Outer.`my class` `` without backticks; `nil` if the text is not a path.
    static func path(_ text: String) -> [String]? {
        var names: [String] = []
        var name = ""
        var isQuoted = false
        for character in text {
            switch character {
            case "`": isQuoted.toggle()
            case "." where !isQuoted:
                names.append(name)
                name = ""
            default: name.append(character)
            }
        }
        names.append(name)
        return !isQuoted && names.allSatisfy(isValid) ? names : nil
    }
}
