extension LinkTable {
    /// For a store that has a table of ``sharedName`` instead of one of ``name``.
    /// - Parameter place: where the store is.
    public func mixed(_ place: String) -> StoreError {
        StoreError(
            .incompatibleSchema,
            "The store \(place) was made by an earlier version, which kept two relationships in the one table \(sharedName ?? name), and nothing tells "
                + "their objects apart. Read it with that version, and write it to a new store in which one of the two has another name.",
            url: place)
    }
}
