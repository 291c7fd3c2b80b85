import PolyStoreKernel
import PolyStoreObservation

/// The values of one object without a class at one time. A Sendable value that remains valid after the object, its context and the stack are released.
public struct EntitySnapshot: Sendable, Hashable, Identifiable {
    /// The id of the object.
    public let id: AnyObjectID
    /// The values of all attributes, and the ids of the targets of to-one relationships, by name. Null is omitted.
    public let values: QueryRow

    init<T: Model>(_ snapshot: ObjectSnapshot<T>) {
        id = AnyObjectID(entry: snapshot.id.entry, rowID: snapshot.id.rowID)
        var values: QueryRow = [:]
        for (name, value) in snapshot.namedValues { values[name] = value }
        self.values = values
    }

    /// The value of an attribute, or the id of the target of a to-one relationship; `nil` for null.
    public subscript(name: String) -> QueryValue? { values[name] }
}

/// The objects of a list at one time, in order. A Sendable value; the values of an object are decoded when it is accessed.
public struct EntityListSnapshot: Sendable, RandomAccessCollection {
    /// A section of the list.
    public struct Section: Sendable, Hashable {
        /// The name.
        public let name: String
        /// The positions of the section's objects in the whole list.
        public let range: Range<Int>
    }

    /// The sections; a list without sections has one, unnamed.
    public let sections: [Section]
    public let endIndex: Int
    private let object: @Sendable (Int) -> EntitySnapshot
    private let ids: @Sendable () -> [AnyObjectID]

    init<T: Model>(_ list: ListSnapshot<T>) {
        endIndex = list.count
        sections = list.sections.map { Section(name: $0.name, range: $0.range) }
        object = { EntitySnapshot(list[$0]) }
        ids = { list.objectIDs.map { AnyObjectID(entry: $0.entry, rowID: $0.rowID) } }
    }

    public var startIndex: Int { 0 }
    /// The object at a position, which must be less than `count`.
    public subscript(position: Int) -> EntitySnapshot { object(position) }
    /// The ids of all objects, in order, without decoding any.
    public var objectIDs: [AnyObjectID] { ids() }
}

/// A state of a list, and what has changed since the one before.
public struct EntityListUpdate: Sendable {
    /// The objects that a change concerns.
    public struct Changes: Sendable, Hashable {
        /// The objects that were added to the list.
        public let inserted: [AnyObjectID]
        /// The objects that have left the list.
        public let deleted: [AnyObjectID]
        /// The objects with other values, which may also have moved.
        public let updated: [AnyObjectID]
        /// The objects with other positions.
        public let moved: [AnyObjectID]

        init<T: Model>(_ changes: ListChanges<T>) {
            func ids(_ list: [ObjectID<T>]) -> [AnyObjectID] { list.map { AnyObjectID(entry: $0.entry, rowID: $0.rowID) } }
            inserted = ids(changes.inserted.map(\.id))
            deleted = ids(changes.deleted.map(\.id))
            updated = ids(changes.updated.map(\.id) + changes.moved.filter(\.isUpdated).map(\.id))
            moved = ids(changes.moved.map(\.id))
        }
    }

    /// The list.
    public let snapshot: EntityListSnapshot
    /// The changes; `nil` for the first state.
    public let changes: Changes?
}
