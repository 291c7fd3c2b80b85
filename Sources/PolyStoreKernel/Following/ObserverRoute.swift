import PolyStoreBackend

/// A field value that all objects of a list have. Commits without objects with this value do not affect the list.
package struct ObserverRoute {
    package struct Field: Hashable {
        let entityIndex: Int32
        let index: Int

        package init(entityIndex: Int32, index: Int) {
            self.entityIndex = entityIndex
            self.index = index
        }
    }

    let field: Field
    let value: Value

    package init(field: Field, value: Value) {
        self.field = field
        self.value = value
    }
}
