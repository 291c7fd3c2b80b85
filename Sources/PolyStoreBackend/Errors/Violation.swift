/// A violation of a model rule by an object, as listed in an error with the code `constraint`.
public struct Violation: Sendable, Hashable, Codable {
    /// The kind of a rule. A struct, so that kinds can be added.
    public struct Rule: Sendable, Hashable, Codable, CustomStringConvertible {
        /// The name of the rule.
        public let description: String
        /// Creates a rule with a name.
        public init(_ name: String) { description = name }
        /// Decodes the name.
        public init(from decoder: any Decoder) throws { description = try decoder.singleValueContainer().decode(String.self) }
        /// Encodes the name.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(description)
        }

        /// A required attribute or to-one relationship has no value.
        public static let required = Rule("required")
        /// The number of objects of a relationship is out of bounds.
        public static let count = Rule("count")
        /// The delete rule `deny`.
        public static let deny = Rule("deny")
        /// A relationship refers to an object that is not in the store.
        public static let reference = Rule("reference")
        /// See `AttributeOption.range`.
        public static let range = Rule("range")
        /// See ``AttributeOption/length(_:)-(ClosedRange<Int>)``.
        public static let length = Rule("length")
        /// See ``AttributeOption/matches(_:)``.
        public static let pattern = Rule("pattern")
        /// The model's own `validate()` or `validateForDelete()` threw an error.
        public static let custom = Rule("custom")
    }

    /// The stored name of the entity.
    public let entity: String
    /// The attribute or relationship; `nil` if the violation concerns the whole object.
    public let attribute: String?
    /// The row id of the object; see ``StoreError/rowID``.
    public let rowID: Int64
    /// The kind of rule that is violated.
    public let rule: Rule
    /// A description of the violation that names the object, the property and the value.
    public let message: String

    /// Creates a violation.
    public init(entity: String, attribute: String?, rowID: Int64, rule: Rule, message: String) {
        self.entity = entity
        self.attribute = attribute
        self.rowID = rowID
        self.rule = rule
        self.message = message
    }
}

extension Violation: CustomStringConvertible {
    /// The message, which names the object, the property and the value.
    public var description: String { message }
}
