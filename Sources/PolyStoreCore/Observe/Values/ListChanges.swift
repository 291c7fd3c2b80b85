public import Foundation

/// The difference between two states of a list, keyed by the ids of the objects.
///
/// Applying it gives the new list if its parts are applied in this order:
/// 1. Remove the deleted and the moved objects from their old positions.
/// 2. Remove the deleted sections, which are empty then.
/// 3. Insert the inserted sections at their new indexes, in ascending order.
/// 4. Insert the inserted and the moved objects at their new positions, in ascending order.
/// 5. Show the new values of the updated objects.
///
/// An object occurs once: one that moved and whose values changed is a move that says so. Table and collection views apply a batch in this order.
public struct ListChanges<T: Model>: Sendable {
    let delta: ListDelta
    /// The list after the change.
    let new: ListContents

    /// A position in a list. A list without sections has one section, 0.
    public struct Position: Sendable, Hashable, Comparable {
        public let section: Int
        public let item: Int

        init(_ position: ListPosition) { (section, item) = (position.section, position.item) }

        /// The section and the item.
        public var indexPath: IndexPath { [section, item] }

        public static func < (left: Position, right: Position) -> Bool { (left.section, left.item) < (right.section, right.item) }
    }

    /// A section that was inserted or deleted.
    public struct SectionChange: Sendable, Hashable {
        public let index: Int
        public let name: String

        init(_ change: ListDelta.SectionChange) { (index, name) = (change.index, change.name) }
    }

    /// An object that was inserted, deleted or updated.
    public struct ObjectChange: Sendable, Hashable {
        public let id: ObjectID<T>
        public let position: Position
    }

    /// An object that moved.
    public struct Move: Sendable, Hashable {
        public let id: ObjectID<T>
        public let from: Position
        public let to: Position
        /// A Boolean value that indicates whether values of the object changed too.
        public let isUpdated: Bool
    }

    /// With their new indexes, ascending.
    public var insertedSections: [SectionChange] { delta.insertedSections.map(SectionChange.init) }
    /// With their old indexes, ascending.
    public var deletedSections: [SectionChange] { delta.deletedSections.map(SectionChange.init) }
    /// With their old positions, ascending.
    public var deleted: [ObjectChange] { delta.deleted.map(change) }
    /// With their new positions, ascending.
    public var inserted: [ObjectChange] { delta.inserted.map(change) }
    /// The objects whose values changed and that did not move, with their new positions, ascending.
    public var updated: [ObjectChange] { delta.updated.map(change) }
    /// In ascending order of the new positions.
    public var moved: [Move] {
        delta.moved.map { Move(id: id($0.row), from: Position($0.from), to: Position($0.to), isUpdated: $0.isUpdated) }
    }

    /// A Boolean value that indicates whether the two states are the same.
    public var isEmpty: Bool { delta.isEmpty }

    private func change(_ change: ListDelta.RowChange) -> ObjectChange {
        ObjectChange(id: id(change.row), position: Position(change.position))
    }

    private func id(_ row: ListRow) -> ObjectID<T> { ObjectID(entry: new.shape.entry(row), key: row.rowID) }
}
