/// A condition as people write it: names that are not looked up yet, constants without the type of what they are compared with.
///
/// Every dialect ends here: format strings (``init(format:arguments:variables:)``), keys, dictionaries, key paths of more than one step and
/// Foundation's predicates. ``resolved(for:in:)`` then looks the names up, types the constants and gives the one form that stores know. The
/// meaning of each operator is in `docs/query-language.md`.
public indirect enum Condition: Sendable, Hashable {
    case constant(Bool)
    case comparison(Comparison)
    case and([Condition])
    case or([Condition])
    case not(Condition)
    /// Resolved already, by key paths: its fields are those of the entity that is asked for.
    case resolved(QueryPredicate)
}

/// Two operands and what is asked about them.
public struct Comparison: Sendable, Hashable {
    /// Which of the values of a to-many path must satisfy it.
    public enum Modifier: String, Sendable, Hashable, CaseIterable {
        /// The path leads to one value.
        case direct = ""
        /// At least one; of none it is false.
        case any = "ANY"
        /// Each; of none it is true.
        case all = "ALL"
        /// Not one; of none it is true.
        case none = "NONE"
    }

    public enum Operator: String, Sendable, Hashable, CaseIterable {
        case equal = "=="
        case notEqual = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
        /// The right side is a list, or a to-many path.
        case oneOf = "IN"
        /// The right side is a list of two, both included.
        case between = "BETWEEN"
        case contains = "CONTAINS"
        case beginsWith = "BEGINSWITH"
        case endsWith = "ENDSWITH"
        /// `?` is one character, `*` any number of them, a backslash takes the next one as it is.
        case like = "LIKE"
        /// The whole text satisfies a regular expression.
        case matches = "MATCHES"
    }

    public var modifier: Modifier
    public var left: Operand
    public var operation: Operator
    public var right: Operand
    public var options: TextOptions
    public var location: FormatLocation

    public init(
        _ left: Operand, _ operation: Operator, _ right: Operand, modifier: Modifier = .direct, options: TextOptions = [],
        location: FormatLocation = .none
    ) {
        self.modifier = modifier
        self.left = left
        self.operation = operation
        self.right = right
        self.options = options
        self.location = location
    }
}

/// What does not count when texts are compared.
public struct TextOptions: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// `[c]`: case.
    public static let caseInsensitive = TextOptions(rawValue: 1)
    /// `[d]`: accents and other marks.
    public static let diacriticInsensitive = TextOptions(rawValue: 2)
}

public enum ArithmeticOperator: String, Sendable, Hashable, CaseIterable {
    case add = "+"
    case subtract = "-"
    case multiply = "*"
    case divide = "/"
}

/// One side of a comparison.
public indirect enum Operand: Sendable, Hashable {
    case path(PropertyPath)
    /// With the type it had where it was written; null has none that matters.
    case constant(Value, AttributeType)
    /// An object, by entity and row id.
    ///
    /// `store` is the id of the store that holds it. In a condition for another store the object equals no object. Without a store the row id alone counts.
    case object(entity: String, id: Int64, store: String? = nil)
    case list([Operand])
    case arithmetic(ArithmeticOperator, Operand, Operand)
    /// How many of the objects that a path leads to satisfy a condition in which a variable stands for the object:
    /// `SUBQUERY(friends, $f, $f.age > 30).@count`.
    case subquery(PropertyPath, variable: String, Condition)

    public static let null = Operand.constant(.null, .int64)
}

/// Names joined by dots. Among them collection operators: `friends.@count`, `friends.@avg.age`; alone, `SELF` and `objectID` are the object itself.
public struct PropertyPath: Sendable, Hashable {
    /// Without its dollar: what the path starts from in the condition of a subquery; nil: the object that is asked for.
    public var variable: String?
    /// Empty for the object itself.
    public var keys: [String]
    public var location: FormatLocation

    public init(_ keys: [String], variable: String? = nil, location: FormatLocation = .none) {
        self.variable = variable
        self.keys = keys
        self.location = location
    }
}

/// Where in a format string something stands, for errors. Makes no difference when conditions are compared.
public struct FormatLocation: Sendable, Hashable {
    /// The format string; nil where there is none.
    public var source: String?
    /// Offsets in its UTF-8.
    public var range: Range<Int>

    public init(_ source: String, _ range: Range<Int>) {
        self.source = source
        self.range = range
    }

    private init() {
        source = nil
        range = 0..<0
    }

    public static let none = FormatLocation()

    public static func == (left: FormatLocation, right: FormatLocation) -> Bool { true }
    public func hash(into hasher: inout Hasher) {}
}

extension FormatLocation {
    /// An error about this place: what is wrong, and below it the line of the source with a caret under the place.
    ///
    ///     "agee" is no property of Person. Did you mean "age"? (at 1:5)
    ///     NOT agee > 30
    ///         ^~~~
    public func error(_ message: String, entity: String? = nil, attribute: String? = nil) -> StoreError {
        StoreError(.invalidPredicate, source.map { message + pointer(in: $0) } ?? message, entity: entity, attribute: attribute)
    }

    /// Line and column, both from 1. A column is a character, not a byte.
    var place: (line: Int, column: Int) {
        let bytes = Array((source ?? "").utf8)
        let start = min(max(range.lowerBound, 0), bytes.count)
        let lineStart = (bytes[..<start].lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1
        let line = bytes[..<start].count { $0 == UInt8(ascii: "\n") } + 1
        return (line, String(decoding: bytes[lineStart..<start], as: UTF8.self).count + 1)
    }

    private func pointer(in source: String) -> String {
        let bytes = Array(source.utf8)
        let start = min(max(range.lowerBound, 0), bytes.count)
        let lineStart = (bytes[..<start].lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1
        let lineEnd = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
        let end = min(max(range.upperBound, start), lineEnd)
        // Characters, not bytes: the caret has to stand under what people see. Of a long line they see what is around it.
        let before = Self.shortened(String(decoding: bytes[lineStart..<start], as: UTF8.self), keepingEnd: true)
        let marked = String(decoding: bytes[start..<end], as: UTF8.self)
        let rest = Self.shortened(String(decoding: bytes[start..<lineEnd], as: UTF8.self), keepingEnd: false)
        // A tab is as wide below as above.
        let indent = String(before.map { $0 == "\t" ? $0 : " " })
        let place = place
        return " (at \(place.line):\(place.column))\n\(before)\(rest)\n\(indent)^"
            + String(repeating: "~", count: max(min(marked.count, rest.count) - 1, 0))
    }

    /// A piece of a line, cut where it is too far from the place.
    private static func shortened(_ text: String, keepingEnd: Bool) -> String {
        let limit = 100
        guard text.count > limit else { return text }
        return keepingEnd ? "…" + text.suffix(limit - 1) : text.prefix(limit - 1) + "…"
    }
}
