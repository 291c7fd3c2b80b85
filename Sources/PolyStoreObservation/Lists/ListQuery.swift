import PolyStoreBackend
import PolyStoreKernel

/// The objects of a list, their order and their sections, independent of the type of the objects.
struct ListQuery: Sendable {
    let entityName: String
    /// The class of the objects.
    let type: any Model.Type
    let isSectioned: Bool
    /// Resolves the stores that currently contain the entity.
    let resolve: @Sendable (Context) throws -> ResolvedList
    /// Returns whether an open store contains the entity and is one that the query names.
    private let hasStore: @Sendable (Context) -> Bool
    /// Returns the name of the section of a value.
    let sectionName: @Sendable (QueryValue?) -> String

    init<T: Model>(_ chain: FetchChain<T>, _ sectionBy: SectionBy<T>? = nil) {
        (entityName, type) = (T._$entityName, T.self)
        isSectioned = sectionBy != nil
        if let sectionBy { sectionName = sectionBy.name } else { sectionName = { _ in "" } }
        resolve = { context in try Self.resolve(chain, sectionBy, context) }
        hasStore = { context in (try? context.entries(of: chain.from))?.isEmpty == false }
    }

    /// Resolves the query of a list that was read before. Unlike a fetch, such a list is not an error when all its stores were removed from the stack: it is
    /// empty until one is added again.
    func resolveAgain(_ context: Context) throws -> ResolvedList {
        hasStore(context) ? try resolve(context) : ResolvedList(parts: [], options: FetchOptions(), isMerged: false)
    }

    private static func resolve<T: Model>(
        _ chain: FetchChain<T>, _ sectionBy: SectionBy<T>?, _ context: Context
    ) throws -> ResolvedList {
        let fetch = try context.resolve(chain)
        let parts = try fetch.parts.map { part in
            try ResolvedList.Part(part.entry, part.request, sectionBy?.expression(context, part.entry), part.options)
        }
        return ResolvedList(parts: parts, options: fetch.options, isMerged: fetch.isMerged)
    }
}

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
        /// A Boolean value that indicates whether the condition, the order or the section reads other objects, or the statistics of scores.
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
                ordered.predicate.needsTransaction || ordered.sortKeys.contains { $0.expression?.needsTransaction ?? false }
                || section?.needsTransaction ?? false
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
