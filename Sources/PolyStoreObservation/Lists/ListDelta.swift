import PolyStoreBackend
import PolyStoreKernel

/// A position in a sectioned list. A list without sections has one section, 0.
struct ListPosition: Hashable, Comparable, Sendable {
    var section: Int
    var item: Int

    static func < (left: ListPosition, right: ListPosition) -> Bool { (left.section, left.item) < (right.section, right.item) }
}

/// The difference between two states of an observed list.
///
/// To apply it, remove the deleted and the moved rows from their old positions, remove the deleted sections, which are then empty, insert the inserted
/// sections at their new indexes in ascending order, and insert the inserted and the moved rows at their new positions in ascending order.
struct ListDelta: Sendable {
    struct SectionChange: Sendable, Hashable {
        let index: Int
        let name: String
    }

    struct RowChange: Sendable, Hashable {
        let row: RowReference
        let position: ListPosition
    }

    struct Move: Sendable, Hashable {
        let row: RowReference
        let from: ListPosition
        let to: ListPosition
        /// A Boolean value that indicates whether the object's properties changed too.
        let isUpdated: Bool
    }

    /// The inserted sections with their new indexes, ascending.
    var insertedSections: [SectionChange] = []
    /// The deleted sections with their old indexes, ascending.
    var deletedSections: [SectionChange] = []
    /// The deleted rows with their old positions, ascending.
    var deleted: [RowChange] = []
    /// The inserted rows with their new positions, ascending.
    var inserted: [RowChange] = []
    /// The rows with changed properties that kept their relative order, with their new positions, ascending.
    var updated: [RowChange] = []
    /// The moved rows in ascending order of their new positions. A moved row is not in the other lists.
    var moved: [Move] = []

    var isEmpty: Bool {
        deleted.isEmpty && inserted.isEmpty && updated.isEmpty && moved.isEmpty && insertedSections.isEmpty && deletedSections.isEmpty
    }
}
