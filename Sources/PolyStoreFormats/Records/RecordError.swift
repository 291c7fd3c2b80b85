import Foundation

/// An error in a record, with its position: `cities.csv, record 17 (line 20), field population: expected an integer, found the text "many"`.
public struct RecordError: Error, Sendable, Hashable {
    /// The kind of an error. A struct, so that codes can be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The name of the code.
        public let description: String
        /// Creates a code with a name.
        public init(_ name: String) { description = name }

        /// The bytes do not follow the grammar of the format.
        public static let syntax = Code("syntax")
        /// The bytes are not UTF-8, or an escape does not denote a character.
        public static let encoding = Code("encoding")
        /// A field name occurs twice in an object or in a header.
        public static let duplicateField = Code("duplicateField")
        /// A CSV row has more or fewer fields than the header.
        public static let fieldCount = Code("fieldCount")
        /// A record, field or nesting exceeds a limit.
        public static let limit = Code("limit")
        /// A required field is missing.
        public static let missingField = Code("missingField")
        /// A required field is null.
        public static let nullValue = Code("nullValue")
        /// A value is not of the expected type.
        public static let wrongType = Code("wrongType")
        /// A number or date is outside the range of its type.
        public static let outOfRange = Code("outOfRange")
        /// The source could not be opened or read, or the destination could not be written.
        public static let inputOutput = Code("inputOutput")
        /// The source is compressed, and its bytes are damaged or require another module.
        public static let compression = Code("compression")
        /// The format or an option is not supported for the operation.
        public static let unsupported = Code("unsupported")
    }

    /// The kind of the error.
    public var code: Code
    /// The position of the record; nil if the error does not concern a record, such as a file that cannot be opened.
    public var position: RecordPosition?
    /// The name or path of the field, such as `population` or `address.lines[2]`.
    public var field: String?
    /// The number of the CSV column, from 1.
    public var column: Int?
    /// The offset in the source at which the error was detected.
    public var byteOffset: Int64?
    /// A description of the error and, if possible, its solution.
    public var reason: String
    /// A Boolean value that indicates whether reading can continue with the next record.
    public var isRecoverable: Bool

    /// Creates an error.
    public init(
        _ code: Code, _ reason: String, position: RecordPosition? = nil, field: String? = nil, column: Int? = nil, byteOffset: Int64? = nil,
        isRecoverable: Bool = true
    ) {
        self.code = code
        self.reason = reason
        self.position = position
        self.field = field
        self.column = column
        self.byteOffset = byteOffset
        self.isRecoverable = isRecoverable
    }

    /// Returns the error with the position of a record, unless it has one.
    public func at(_ position: RecordPosition?) -> RecordError {
        var error = self
        if error.position == nil { error.position = position }
        return error
    }

    /// Returns the error for a value inside a field, with the name prepended to the path of the error.
    public func inField(_ name: String) -> RecordError {
        var error = self
        error.field = field.map { $0.hasPrefix("[") ? name + $0 : name + "." + $0 } ?? name
        return error
    }

    /// Returns the error for an element of an array.
    public func atIndex(_ index: Int) -> RecordError {
        inField("[\(index)]")
    }
}

extension RecordError: CustomStringConvertible {
    public var description: String {
        var parts: [String] = []
        if let position { parts.append(position.description) }
        if let field {
            parts.append("field \(field.isEmpty ? "\"\"" : field)")
        } else if let column {
            parts.append("column \(column)")
        }
        return parts.isEmpty ? reason : parts.joined(separator: ", ") + ": " + reason
    }
}

extension RecordError: LocalizedError {
    /// The position, the field and the reason.
    public var errorDescription: String? { description }
}
