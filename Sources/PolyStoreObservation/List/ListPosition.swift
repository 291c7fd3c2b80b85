import PolyStoreBackend
import PolyStoreKernel

/// A position in a sectioned list. A list without sections has one section, 0.
struct ListPosition: Hashable, Comparable, Sendable {
    var section: Int
    var item: Int

    static func < (left: ListPosition, right: ListPosition) -> Bool { (left.section, left.item) < (right.section, right.item) }
}
