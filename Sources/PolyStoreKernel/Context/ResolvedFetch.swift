import PolyStoreBackend

/// A fetch with one request per store.
@usableFromInline
package struct ResolvedFetch {
    @usableFromInline
    package struct Part {
        @usableFromInline package let entry: StoreEntity
        @usableFromInline package let entityIndex: Int32
        package let request: FetchRequest
        package let options: FetchOptions

        package init(entry: StoreEntity, entityIndex: Int32, request: FetchRequest, options: FetchOptions) {
            self.entry = entry
            self.entityIndex = entityIndex
            self.request = request
            self.options = options
        }
    }

    @usableFromInline package let parts: [Part]
    @usableFromInline package let options: FetchOptions

    package init(parts: [Part], options: FetchOptions) {
        self.parts = parts
        self.options = options
    }
    /// A Boolean value that indicates whether the parts must be merged and limited.
    @usableFromInline package var isMerged: Bool { parts.count > 1 }
    /// A Boolean value that indicates whether the fetch does more than create objects from the rows of one store.
    @usableFromInline var isSpecial: Bool {
        isMerged || !options.prefetch.isEmpty || !options.includesPropertyValues || options.timeLimit != nil
    }
}
