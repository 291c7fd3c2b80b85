import PolyStoreBackend
import PolyStoreKernel

/// The query of a list with its stores resolved.
struct ResolvedList {
    struct Part {
        let entry: StoreEntity
        let entityIndex: Int32
        /// The request for the rows, sorted by section first.
        let request: FetchRequest
        let options: FetchOptions
        let section: QueryExpression?
        let dependencies: QueryDependencies
        /// The fields of the row itself that determine its order and section.
        let placing: FieldMask
        /// A Boolean value that indicates whether the condition, the order or the section reads other objects.
        let needsRelated: Bool

        init(_ entry: StoreEntity, _ request: FetchRequest, _ section: QueryExpression?, _ options: FetchOptions) throws {
            self.entry = entry
            entityIndex = entry.entityIndex
            self.options = options
            self.section = section
            var ordered = request
            if let section {
                let first = request.sortKeys.first.map { $0.expression ?? .field($0.field) }
                if first != section, first.map({ Self.folds($0, section) }) != true {
                    ordered.sortKeys.insert(SortKey(section), at: 0)
                }
            }
            try ordered.validate()
            self.request = ordered
            var dependencies = QueryDependencies()
            dependencies.add(ordered.predicate)
            dependencies.add(ordered.sortKeys)
            if let section { dependencies.add(section) }
            self.dependencies = dependencies
            var placing = FieldMask()
            for key in ordered.sortKeys { (key.expression ?? .field(key.field)).collectFields(into: &placing) }
            section?.collectFields(into: &placing)
            self.placing = placing
            needsRelated =
                ordered.predicate.needsRelated || ordered.sortKeys.contains { $0.expression?.needsRelated ?? false }
                || section?.needsRelated ?? false
        }

        /// Returns whether a sort key is another expression without case or accents.
        private static func folds(_ key: QueryExpression, _ other: QueryExpression) -> Bool {
            if case .folded(let inner, _) = key.node { inner == other } else { false }
        }
    }

    let parts: [Part]
    let options: FetchOptions
    let isMerged: Bool

    /// A Boolean value that indicates whether the list is limited to a part of the rows that the condition selects.
    var isWindow: Bool {
        options.limit != nil || options.offset != 0 || parts.contains { $0.request.limit != nil || $0.request.offset != 0 }
    }
}
