import PolyStoreBackend

/// A form with which an object is changed or created.
package struct ObjectForm: Sendable {
    /// The greatest number of targets of a to-many relationship that a form lists.
    package static let memberLimit = 100

    /// An attribute or a relationship in a form.
    package struct Field: Sendable {
        /// The kind of a property.
        package enum Kind: Sendable, Hashable {
            case attribute(AttributeType)
            case toOne(destination: String)
            case toMany(destination: String, isOrdered: Bool)
        }

        package let name: String
        package let kind: Kind
        /// A Boolean value that indicates whether the property must have a value.
        package let isRequired: Bool
        /// A Boolean value that indicates whether no other object of the entity may have the value.
        package let isUnique: Bool
        /// The values that the property accepts, as sentences without a period: the texts of its type, its rules, the numbers of its targets.
        package let hints: [String]
        /// The texts among which to choose; empty if any text can be entered.
        package let choices: [String]
        /// The text of the value. Empty for null, for a value that is too large for a form, and for a to-many relationship.
        package let text: String
        /// A Boolean value that indicates whether the text is an escaped one, to be sent as ``FormInput/Input/escaped``.
        package let isEscaped: Bool
        /// A Boolean value that indicates whether the value is null.
        package let isNull: Bool
        /// The size of a value that is too large for a form, in bytes; nil for any other. An input for it replaces the value; without one it is kept.
        package let sizeOfOmitted: Int?
        /// The target of a to-one relationship, or the first ones of a to-many one in their order.
        package let targets: [NamedObject]
        /// The number of targets of a to-many relationship.
        package let targetCount: Int

        /// A Boolean value that indicates whether all targets are listed, so that an ordered relationship can be arranged.
        package var listsAllTargets: Bool { targets.count == targetCount }
    }

    /// The entity of the object, in a hierarchy its own subentity.
    package let entity: String
    /// The object; nil for a new one.
    package let object: ObjectReference?
    /// The object's name; that of the entity for a new one.
    package let title: String
    package let fields: [Field]
    /// A text that identifies the values that the form shows, to be sent with the form. A change is refused if the object has other values then.
    package let seen: String
    /// The entities that a new object can have in place of an abstract one; empty for an object that exists.
    package let concreteEntities: [String]
}
