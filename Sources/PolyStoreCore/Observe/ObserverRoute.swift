import PolyStoreBackend

/// A field value that all objects of a list have. Commits without objects with this value do not affect the list.
struct ObserverRoute {
    struct Field: Hashable {
        let entityIndex: Int32
        let index: Int
    }

    let field: Field
    let value: Value
}
