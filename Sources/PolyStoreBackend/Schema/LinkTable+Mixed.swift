extension LinkTable {
    /// Returns the error for a store that has a table ``sharedName`` instead of ``name``.
    /// - Parameter path: The path or URL of the store.
    package func mixedTablesError(path: String) -> StoreError {
        StoreError(
            .incompatibleSchema,
            "The store \(path) was made by an earlier version, which kept two relationships in the one table \(sharedName ?? name), so their objects cannot be distinguished. "
                + "Read it with that version, and write it to a new store in which one of the two has another name.",
            location: path)
    }
}
