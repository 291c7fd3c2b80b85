/// Names of Swift for stored names.
package enum SwiftNames {
    /// Names of types in generated code, and of modules, which a class or a property of the same name would hide.
    static let types: Set<String> = [
        "Any", "AnyObject", "Array", "AttributeOption", "Bool", "Data", "Date", "Decimal", "DeleteRule", "Dictionary", "Double",
        "Encodable", "Float",
        "Foundation", "Hashable", "Int", "Int16", "Int32", "Int64", "Int8", "Model", "Never", "Optional", "PartialKeyPath", "PolyStore",
        "PolyStoreCore", "Protocol", "RawJSON", "Schema", "Self", "Sendable", "Set", "String", "Swift", "Type", "UInt", "UInt16", "UInt32",
        "UInt64",
        "UInt8", "URL", "UUID", "Void",
    ]

    /// Names of members that every model class has, or that have a meaning of their own after a dot.
    private static let members: Set<String> = [
        "Protocol", "Self", "Type", "changedKeys", "changedValues", "customMirror", "debugDescription", "description", "encode",
        "hasChanges", "hash",
        "hashValue", "init", "isDeleted", "isFault", "isInserted", "objectID", "observe", "queryOperand", "self", "snapshot", "super",
        "validate",
        "validateForDelete",
    ]

    private static let keywords: Set<String> = [
        "as", "associatedtype", "await", "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do", "else", "enum",
        "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import", "in", "inout", "internal", "is", "let",
        "nil",
        "operator", "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return", "static", "struct", "subscript",
        "switch",
        "throw", "throws", "true", "try", "typealias", "var", "where", "while",
    ]

    /// Returns a name as code: a keyword in backticks.
    static func code(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

    /// Returns a name for the class of an entity.
    /// - Parameter taken: The names of other classes, to which the name is added.
    static func type(_ stored: String, _ taken: inout Set<String>) -> String {
        let plain = plain(stored) ?? words(stored, first: capitalized) ?? "Entity"
        let isHidden = types.contains(plain) || members.contains(plain) || keywords.contains(plain)
        let name = isHidden ? capitalized(plain) + "Entity" : plain
        return unique(name, &taken)
    }

    /// Returns a name for an attribute or relationship.
    /// - Parameters:
    ///   - types: The names of all classes.
    ///   - taken: The names of other properties, to which the name is added.
    static func property(_ stored: String, types: Set<String>, _ taken: inout Set<String>) -> String {
        var name = plain(stored) ?? words(stored, first: lowercased) ?? "property"
        func isHidden(_ name: String) -> Bool {
            types.contains(name) || Self.types.contains(name) || members.contains(name) || isIdentity(name)
        }
        if isHidden(name), let first = name.first, first.isUppercase { name = lowercased(name) }
        while isHidden(name) { name += "Value" }
        return unique(name, &taken)
    }

    /// Returns a name for a constant.
    static func constant(_ text: String) -> String {
        let name = words(text, first: lowercased) ?? "stored"
        return members.contains(name) ? name + "Schema" : name
    }

    /// Returns whether conditions read a name as the object itself, in letters of either case.
    private static func isIdentity(_ name: String) -> Bool { ["objectid", "self"].contains(name.lowercased()) }

    /// Names that differ in case only would be the same in a store.
    private static func unique(_ name: String, _ taken: inout Set<String>) -> String {
        var (candidate, number) = (name, 2)
        while taken.contains(where: { $0.lowercased() == candidate.lowercased() }) {
            candidate = "\(name)\(number)"
            number += 1
        }
        taken.insert(candidate)
        return candidate
    }

    /// Returns the text if it is an identifier of Swift.
    private static func plain(_ text: String) -> String? {
        guard let first = text.first, isStart(first), text.allSatisfy(isPart), text.contains(where: { $0 != "_" }) else { return nil }
        return text
    }

    private static func isStart(_ character: Character) -> Bool {
        character == "_" || character.isASCII && character.isLetter
            || !character.isASCII && character.unicodeScalars.allSatisfy(\.properties.isXIDContinue)
                && character.unicodeScalars.first?.properties.isXIDStart == true
    }

    private static func isPart(_ character: Character) -> Bool {
        character == "_" || character.isASCII && (character.isLetter || character.isNumber)
            || !character.isASCII && character.unicodeScalars.allSatisfy(\.properties.isXIDContinue)
    }

    /// Returns the words of a text as one identifier, `orderDetails` for `Order Details`; nil if it has none.
    private static func words(_ text: String, first: (String) -> String) -> String? {
        let words = text.split { !isPart($0) || $0 == "_" }.map(String.init)
        guard let start = words.first else { return nil }
        let name = first(start) + words.dropFirst().map(capitalized).joined()
        return name.first.map(isStart) == true ? name : "_" + name
    }

    /// Returns a name of the usual form, `OrderDetails` for `order_details` and `Order Details`, for the entity of a table.
    package static func type(words text: String, _ taken: inout Set<String>) -> String {
        type(words(spelledOut(text), first: capitalized) ?? "Entity", &taken)
    }

    /// Returns a name of the usual form, `unitPrice` for `UnitPrice` and `unit_price`, for the attribute of a column.
    package static func property(words text: String, types: Set<String>, _ taken: inout Set<String>) -> String {
        property(words(spelledOut(text), first: lowercased) ?? "property", types: types, &taken)
    }

    /// Returns a text without capitals if it consists of capitals.
    private static func spelledOut(_ text: String) -> String { text.contains(where: \.isLowercase) ? text : text.lowercased() }

    private static func capitalized(_ word: String) -> String { word.prefix(1).uppercased() + word.dropFirst() }

    /// Returns a word with a small initial; a word of capitals in small letters: `unit` for `Unit`, `id` for `ID`.
    private static func lowercased(_ word: String) -> String {
        word.allSatisfy { !$0.isLowercase } ? word.lowercased() : word.prefix(1).lowercased() + word.dropFirst()
    }
}
