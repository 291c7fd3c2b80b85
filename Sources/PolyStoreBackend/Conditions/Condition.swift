/// An unresolved condition: names are not looked up yet, and constants do not have the type of the value they are compared with.
///
/// Format strings (``init(format:arguments:variables:)``), keys, dictionaries, key paths of more than one step and Foundation's predicates are
/// all converted to this type. ``resolved(for:in:)`` looks up the names, converts the constants and returns the form that stores evaluate. The
/// semantics of each operator are in `docs/query-language.md`.
public indirect enum Condition: Sendable, Hashable {
    case constant(Bool)
    case comparison(Comparison)
    case and([Condition])
    case or([Condition])
    case not(Condition)
    /// A condition that is already resolved, from key paths. Its fields belong to the fetched entity.
    case resolved(QueryPredicate)
}

/// A comparison of two operands.
public struct Comparison: Sendable, Hashable {
    /// A quantifier over the values of a to-many path.
    public enum Modifier: String, Sendable, Hashable, CaseIterable {
        /// No quantifier: the path leads to one value.
        case direct = ""
        /// At least one value; false for an empty collection.
        case any = "ANY"
        /// Every value; true for an empty collection.
        case all = "ALL"
        /// No value; true for an empty collection.
        case none = "NONE"
    }

    /// An operator, with its spelling in format strings.
    public enum Operator: String, Sendable, Hashable, CaseIterable {
        case equal = "=="
        case notEqual = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
        /// Membership. The right side is a list, a range or a to-many path.
        case oneOf = "IN"
        /// Inclusive range test. The right side is a range or a list of two bounds.
        case between = "BETWEEN"
        case contains = "CONTAINS"
        case beginsWith = "BEGINSWITH"
        case endsWith = "ENDSWITH"
        /// Wildcard match: `?` matches one character, `*` any number of characters, a backslash escapes the next character.
        case like = "LIKE"
        /// Regular expression match against the whole text.
        case matches = "MATCHES"
    }

    /// The quantifier, if the left side is a to-many path.
    public var modifier: Modifier
    /// The left side.
    public var left: Operand
    /// The operator.
    public var operation: Operator
    /// The right side.
    public var right: Operand
    /// The options for text.
    public var options: TextOptions
    /// The location in the format string.
    public var location: FormatLocation

    /// Creates a comparison of two operands.
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

/// Options for text comparisons.
public struct TextOptions: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8
    /// Creates options from a bit mask.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// `[c]`: ignores case.
    public static let caseInsensitive = TextOptions(rawValue: 1)
    /// `[d]`: ignores accents and other diacritical marks.
    public static let diacriticInsensitive = TextOptions(rawValue: 2)
}

/// An arithmetic operator, with its spelling in format strings.
public enum ArithmeticOperator: String, Sendable, Hashable, CaseIterable {
    case add = "+"
    case subtract = "-"
    case multiply = "*"
    case divide = "/"
}

/// One side of a comparison.
public indirect enum Operand: Sendable, Hashable {
    case path(PropertyPath)
    /// A constant with its original type. The type of null is irrelevant.
    case constant(Value, AttributeType)
    /// An object, identified by entity and row id.
    ///
    /// `store` is the id of the store that holds the object. In a condition for another store, the object is not equal to any object. If nil, only row
    /// ids are compared.
    case object(entity: String, id: Int64, store: String? = nil)
    case list([Operand])
    /// A range of values, for `IN` and `BETWEEN`. A nil bound leaves that side open.
    case range(low: Operand?, high: Operand?, includesHigh: Bool)
    case arithmetic(ArithmeticOperator, Operand, Operand)
    /// An aggregate of the objects at the end of a path that satisfy a condition, in which a variable refers to the object:
    /// `SUBQUERY(friends, $f, $f.age > 30).@count`, or `.@max.age`. `keys` are the keys after the closing parenthesis.
    case subquery(PropertyPath, variable: String, Condition, keys: [String] = ["@count"])
    /// A function of one or two operands: `modulus:by:(age, 2)`, `length(name)`.
    case function(ScalarFunction, [Operand])
    /// `TERNARY(age > 17, fee, 0)`: the first value if the condition is true, otherwise the second.
    case conditional(Condition, Operand, Operand)
    /// A type conversion: `CAST(born, 'NSNumber')`.
    case cast(Operand, AttributeType)
    /// The time at which the condition is evaluated.
    case now

    /// The null constant.
    public static let null = Operand.constant(.null, .int64)
}

/// A path of keys joined by dots.
///
/// `"[0]"`, `"[LAST]"` and the like are positions in an ordered relationship. Keys can be collection operators: `friends.@count`, `friends.@avg.age`.
/// `SELF` and `objectID` alone are the object itself.
public struct PropertyPath: Sendable, Hashable {
    /// The variable that the path starts from in a subquery, without its dollar sign; nil for the fetched object.
    public var variable: String?
    /// The keys; empty for the object itself.
    public var keys: [String]
    /// The location in the format string.
    public var location: FormatLocation

    /// Creates a path of keys.
    public init(_ keys: [String], variable: String? = nil, location: FormatLocation = .none) {
        self.variable = variable
        self.keys = keys
        self.location = location
    }
}

/// A position in a format string, for error messages. Ignored when conditions are compared.
public struct FormatLocation: Sendable, Hashable {
    /// The format string; nil if the condition has none.
    public var source: String?
    /// The range of UTF-8 offsets in ``source``.
    public var range: Range<Int>

    /// Creates a location from a range of UTF-8 offsets in `source`.
    public init(_ source: String, _ range: Range<Int>) {
        self.source = source
        self.range = range
    }

    private init() {
        source = nil
        range = 0..<0
    }

    /// The location of a condition that has no format string.
    public static let none = FormatLocation()

    public static func == (left: FormatLocation, right: FormatLocation) -> Bool { true }
    public func hash(into hasher: inout Hasher) {}
}

extension FormatLocation {
    /// Returns an error with the given message, followed by the source line with a caret under this location.
    ///
    ///     "agee" is no property of Person. Did you mean "age"? (at 1:5)
    ///     NOT agee > 30
    ///         ^~~~
    public func error(_ message: String, entity: String? = nil, attribute: String? = nil) -> StoreError {
        StoreError(.invalidPredicate, source.map { message + pointer(in: $0) } ?? message, entity: entity, attribute: attribute)
    }

    /// The line and the column, both from 1. Columns count characters, not bytes.
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
        // The caret position counts characters, not bytes. A long line is shortened around the location.
        let before = Self.shortened(String(decoding: bytes[lineStart..<start], as: UTF8.self), keepingEnd: true)
        let marked = String(decoding: bytes[start..<end], as: UTF8.self)
        let rest = Self.shortened(String(decoding: bytes[start..<lineEnd], as: UTF8.self), keepingEnd: false)
        // Tabs are copied to the caret line, so that both lines have the same indentation.
        let indent = String(before.map { $0 == "\t" ? $0 : " " })
        let place = place
        return " (at \(place.line):\(place.column))\n\(before)\(rest)\n\(indent)^"
            + String(repeating: "~", count: max(min(marked.count, rest.count) - 1, 0))
    }

    /// Returns part of a line, cut at a maximum distance from the location.
    private static func shortened(_ text: String, keepingEnd: Bool) -> String {
        let limit = 100
        guard text.count > limit else { return text }
        return keepingEnd ? "…" + text.suffix(limit - 1) : text.prefix(limit - 1) + "…"
    }
}
