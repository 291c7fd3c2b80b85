public import Foundation
import PolyStoreKernel

/// The difference between two states of a list, keyed by the ids of the objects.
///
/// To obtain the new list, apply the parts in this order:
/// 1. Remove the deleted and the moved objects from their old positions.
/// 2. Remove the deleted sections, which are then empty.
/// 3. Insert the inserted sections at their new indexes, in ascending order.
/// 4. Insert the inserted and the moved objects at their new positions, in ascending order.
/// 5. Show the new values of the updated objects.
///
/// Each object occurs once: a moved object with changed values is a move whose ``Move/isUpdated`` is true. Table and collection views apply a batch in this
/// order.
public struct ListChanges<T: Model>: Sendable, Equatable {
    let delta: ListDelta
    /// The list after the change.
    let new: ListContents

    /// A position in a list. A list without sections has one section, 0.
    public struct Position: Sendable, Hashable, Comparable {
        /// The index of the section.
        public let section: Int
        /// The index of the object in the section.
        public let item: Int

        init(_ position: ListPosition) { (section, item) = (position.section, position.item) }

        /// The position as an index path of section and item.
        public var indexPath: IndexPath { [section, item] }

        public static func < (left: Position, right: Position) -> Bool { (left.section, left.item) < (right.section, right.item) }
    }

    /// A section that is inserted or deleted.
    public struct SectionChange: Sendable, Hashable {
        /// The index of the section.
        public let index: Int
        /// The name of the section.
        public let name: String

        init(_ change: ListDelta.SectionChange) { (index, name) = (change.index, change.name) }
    }

    /// An object that is inserted, deleted or updated.
    public struct ObjectChange: Sendable, Hashable {
        /// The id of the object.
        public let id: ObjectID<T>
        /// The position of the object.
        public let position: Position
    }

    /// An object that is moved.
    public struct Move: Sendable, Hashable {
        /// The id of the object.
        public let id: ObjectID<T>
        /// The old position.
        public let from: Position
        /// The new position.
        public let to: Position
        /// A Boolean value that indicates whether values of the object changed too.
        public let isUpdated: Bool
    }

    /// The inserted sections with their new indexes, ascending.
    public var insertedSections: [SectionChange] { delta.insertedSections.map(SectionChange.init) }
    /// The deleted sections with their old indexes, ascending.
    public var deletedSections: [SectionChange] { delta.deletedSections.map(SectionChange.init) }
    /// The deleted objects with their old positions, ascending.
    public var deleted: [ObjectChange] { delta.deleted.map(change) }
    /// The inserted objects with their new positions, ascending.
    public var inserted: [ObjectChange] { delta.inserted.map(change) }
    /// The updated objects that did not move, with their new positions, ascending.
    public var updated: [ObjectChange] { delta.updated.map(change) }
    /// The moved objects in ascending order of their new positions.
    public var moved: [Move] {
        delta.moved.map { Move(id: id($0.row), from: Position($0.from), to: Position($0.to), isUpdated: $0.isUpdated) }
    }

    /// A Boolean value that indicates whether the two states are equal.
    public var isEmpty: Bool { delta.isEmpty }

    /// Returns whether two changes insert, delete, update and move the same objects and sections at the same positions.
    public static func == (left: ListChanges, right: ListChanges) -> Bool {
        left.insertedSections == right.insertedSections && left.deletedSections == right.deletedSections && left.deleted == right.deleted
            && left.inserted == right.inserted && left.updated == right.updated && left.moved == right.moved
    }

    private func change(_ change: ListDelta.RowChange) -> ObjectChange {
        ObjectChange(id: id(change.row), position: Position(change.position))
    }

    private func id(_ row: RowReference) -> ObjectID<T> { ObjectID(entry: new.shape.entry(row), rowID: row.rowID) }
}
