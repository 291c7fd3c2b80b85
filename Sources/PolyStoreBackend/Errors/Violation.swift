/// A rule of the model that an object breaks: one of those that an error of the code `constraint` holds.
public struct Violation: Sendable, Hashable {
    /// Which kind of rule. A struct, so that more can be added.
    public struct Rule: Sendable, Hashable, CustomStringConvertible {
        public let description: String
        public init(_ name: String) { description = name }

        /// An attribute, or a to-one relationship, that must have a value.
        public static let required = Rule("required")
        /// The number of objects that a relationship leads to.
        public static let count = Rule("count")
        /// The delete rule `deny`.
        public static let deny = Rule("deny")
        /// A relationship leads to an object that is not in the store.
        public static let reference = Rule("reference")
        /// See `AttributeOption.range`.
        public static let range = Rule("range")
        /// See ``AttributeOption/length(_:)-(ClosedRange<Int>)``.
        public static let length = Rule("length")
        /// See ``AttributeOption/matches(_:)``.
        public static let pattern = Rule("pattern")
        /// What the model's own `validate()` or `validateForDelete()` has thrown.
        public static let custom = Rule("custom")
    }

    public let entity: String
    /// The attribute or relationship; nil where the object as a whole is to blame.
    public let attribute: String?
    /// The object's key; see ``StoreError/objectID``.
    public let objectID: Int64
    public let rule: Rule
    /// A sentence for a person, that names all of these and the value.
    public let message: String

    public init(entity: String, attribute: String?, objectID: Int64, rule: Rule, message: String) {
        self.entity = entity
        self.attribute = attribute
        self.objectID = objectID
        self.rule = rule
        self.message = message
    }
}
