extension LinkTable {
    /// Returns the error for a store that has a table ``sharedName`` instead of ``name``.
    /// - Parameter place: The path or URL of the store.
    public func mixed(_ place: String) -> StoreError {
        StoreError(
            .incompatibleSchema,
            "The store \(place) was made by an earlier version, which kept two relationships in the one table \(sharedName ?? name), so their objects cannot be distinguished. "
                + "Read it with that version, and write it to a new store in which one of the two has another name.",
            url: place)
    }
}
