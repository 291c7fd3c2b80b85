import PolyStoreCore

/// An object with the name that a reader knows it by.
package struct NamedObject: Sendable, Hashable {
    /// The entity and the row id; nil for an object that is not in the store yet.
    package let reference: ObjectReference?
    /// The entity of the object, in a hierarchy its own subentity.
    package let entity: String
    /// The text of the attribute that names it, cut to 200 characters; nil if it has none.
    package let name: String?

    /// The name or, without one, the entity and the row id.
    package var title: String {
        if let name, !name.isEmpty { return name }
        return reference.map { "\($0.entity) \($0.rowID)" } ?? "new \(entity)"
    }
}

/// The changes of a transaction, read from its pending changes before it is committed or discarded.
package struct ChangePreview: Sendable, Hashable {
    /// The greatest number of objects that a preview describes. ``counts`` has all of them.
    package static let limit = 200

    /// The kind of a change.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case inserted, updated, deleted
    }

    /// A value before and after the change, as text.
    package struct Property: Sendable, Hashable {
        package let name: String
        /// The text of the old value; nil for null. That of a relationship lists the names of its targets.
        package let old: String?
        package let new: String?
        /// The targets that a to-many relationship gains and loses; empty for anything else.
        package let added: [NamedObject]
        package let removed: [NamedObject]
    }

    /// The change of one object.
    package struct Object: Sendable, Hashable {
        package let kind: Kind
        package let object: NamedObject
        /// A Boolean value that indicates whether this is the object of the form. Others change because of inverses and delete rules.
        package let isSubject: Bool
        /// The changed properties by name; for a new object those with a value, for a deleted one none.
        package let properties: [Property]
    }

    /// The number of objects of an entity with one kind of change.
    package struct Count: Sendable, Hashable {
        package let kind: Kind
        package let entity: String
        package let count: Int

        /// Returns numbers in order of their kinds and entities.
        static func list(_ counts: [Kind: [String: Int]]) -> [Count] {
            Kind.allCases.flatMap { kind in
                (counts[kind] ?? [:]).sorted { $0.key < $1.key }.map { Count(kind: kind, entity: $0.key, count: $0.value) }
            }
        }
    }

    /// A reason for which the store would refuse the change.
    package struct Mistake: Sendable, Hashable {
        /// The property of the form; nil if the mistake concerns the whole object or another one.
        package let property: String?
        package let message: String
        /// A Boolean value that indicates whether the delete rule of a relationship refuses the deletion.
        package let isDenial: Bool

        package init(property: String?, message: String, isDenial: Bool = false) {
            (self.property, self.message, self.isDenial) = (property, message, isDenial)
        }
    }

    /// The changes, first that of the object of the form.
    package internal(set) var objects: [Object]
    /// The numbers of all changed objects, by kind and entity.
    package let counts: [Count]
    /// The reasons for which a commit would be refused; empty if it would be accepted.
    package internal(set) var mistakes: [Mistake]
    /// A text that is the same for the same changes. Pass it to the commit, which is refused if the changes differ by then.
    package let digest: String

    /// A Boolean value that indicates whether nothing would change.
    package var isEmpty: Bool { counts.isEmpty }

    /// The numbers of the other objects that are deleted with the object of the form.
    package var cascades: [Count] {
        let subject = objects.first { $0.isSubject && $0.kind == .deleted }?.object.entity
        return counts.filter { $0.kind == .deleted }.compactMap { count in
            let others = count.count - (count.entity == subject ? 1 : 0)
            return others > 0 ? Count(kind: .deleted, entity: count.entity, count: others) : nil
        }
    }
}

/// An object that has changed since the form showed it.
package struct EditConflict: Sendable, Hashable {
    /// A property with another value than the form showed, or with an entry of the form.
    package struct Property: Sendable, Hashable {
        package let name: String
        /// The value that the store has now; nil for null.
        package let stored: String?
        /// The value of the form; nil for null. The same as `stored` if the form has no entry.
        package let entered: String?
        /// A Boolean value that indicates whether the stored value is another than when the form was made.
        package let wasChanged: Bool
        /// A Boolean value that indicates whether the form changes the property.
        package let wasEntered: Bool
    }

    /// A Boolean value that indicates whether the object was deleted.
    package let isDeleted: Bool
    /// The properties that were changed in the meantime, and those that the form changes.
    package let properties: [Property]
    /// The current effects of the change, if the object of the form is the same, but other objects that the change affects are not.
    package let preview: ChangePreview?
}

/// The result of a preview or a commit.
package enum EditOutcome: Sendable, Hashable {
    /// The change can be committed with the digest of the preview.
    case accepted(ChangePreview)
    /// The change was committed. The object is the created or updated one; nil after a deletion.
    case committed(ObjectReference?, ChangePreview)
    /// The form or the change has mistakes. Nothing was written.
    case refused(ChangePreview)
    /// The object was changed in the meantime. Nothing was written.
    case conflict(EditConflict)
}
