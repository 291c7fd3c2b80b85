import PolyStoreBackend

extension FetchRequest {
    /// A Boolean value that indicates whether a sort key is an expression.
    public var hasComputedKeys: Bool { sortKeys.contains { $0.expression != nil } }

    /// A request for the same rows in any order and without a slice, including the fields that the sort keys refer to.
    public var unsorted: FetchRequest {
        var copy = self
        copy.sortKeys = []
        copy.limit = nil
        copy.offset = 0
        if onlyIDs || fields != nil {
            var needed = onlyIDs ? FieldMask() : fields ?? FieldMask()
            for key in sortKeys { (key.expression ?? .field(key.field)).collectFields(into: &needed) }
            copy.fields = needed
            copy.onlyIDs = false
        }
        return copy
    }
}
