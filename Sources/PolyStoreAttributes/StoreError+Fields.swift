import PolyStoreBackend

extension StoreError {
    /// Creates the error of a field that cannot be decoded. A context adds the names of the entity and the attribute.
    package init(undecodable field: Int, _ message: String, underlying: String? = nil) {
        self.init(.corrupt, message, underlying: underlying)
        fieldIndex = field
    }
}
