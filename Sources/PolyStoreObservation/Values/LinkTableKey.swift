import PolyStoreBackend
import PolyStoreKernel

/// A link table of a store of the stack.
struct LinkTableKey: Hashable, Sendable {
    let store: Int
    let table: Int
}
