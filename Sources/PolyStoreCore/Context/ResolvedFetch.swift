import PolyStoreBackend

/// A fetch with one request per store.
@usableFromInline
struct ResolvedFetch {
    @usableFromInline
    struct Part {
        @usableFromInline let entry: StoreEntity
        @usableFromInline let entityIndex: Int32
        let request: FetchRequest
        let options: FetchOptions
    }

    @usableFromInline let parts: [Part]
    let options: FetchOptions
    /// A Boolean value that indicates whether the parts must be merged and limited.
    @usableFromInline var isMerged: Bool { parts.count > 1 }
    /// A Boolean value that indicates whether the fetch does more than create objects from the rows of one store.
    @usableFromInline var isSpecial: Bool { isMerged || !options.prefetch.isEmpty || !options.includesPropertyValues }
}
