import PolyStoreBackend

extension StoreError {
    /// Creates the error of a field that cannot be decoded. ``Context/described(_:_:_:)`` adds the names of the entity and the attribute.
    init(undecodable field: Int, _ message: String, underlying: String? = nil) {
        self.init(.corrupt, message, underlying: underlying)
        fieldIndex = field
    }
}
