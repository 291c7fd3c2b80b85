import PolyStoreBackend

/// The identity of a row of an observed list: the entity's slot in the stack's store table and the row id.
struct ListRow: Hashable, Sendable {
    let slot: Int32
    let rowID: Int64
}

/// A position in a sectioned list. A list without sections has one section, 0.
struct ListPosition: Hashable, Comparable, Sendable {
    var section: Int
    var item: Int

    static func < (left: ListPosition, right: ListPosition) -> Bool { (left.section, left.item) < (right.section, right.item) }
}

/// The difference between two states of an observed list.
///
/// Applying it: remove the deleted and the moved rows from their old positions, remove the deleted sections, which are empty then, insert the inserted
/// sections at their new indexes in ascending order, and insert the inserted and the moved rows at their new positions in ascending order.
struct ListDelta: Sendable {
    struct SectionChange: Sendable, Hashable {
        let index: Int
        let name: String
    }

    struct RowChange: Sendable, Hashable {
        let row: ListRow
        let position: ListPosition
    }

    struct Move: Sendable, Hashable {
        let row: ListRow
        let from: ListPosition
        let to: ListPosition
        /// A Boolean value that indicates whether the object's properties changed too.
        let isUpdated: Bool
    }

    /// With their new indexes, ascending.
    var insertedSections: [SectionChange] = []
    /// With their old indexes, ascending.
    var deletedSections: [SectionChange] = []
    /// With their old positions, ascending.
    var deleted: [RowChange] = []
    /// With their new positions, ascending.
    var inserted: [RowChange] = []
    /// The rows whose properties changed and whose order among the other rows did not, with their new positions, ascending.
    var updated: [RowChange] = []
    /// In ascending order of the new positions. A moved row is not in the other lists.
    var moved: [Move] = []

    var isEmpty: Bool {
        deleted.isEmpty && inserted.isEmpty && updated.isEmpty && moved.isEmpty && insertedSections.isEmpty && deletedSections.isEmpty
    }
}
