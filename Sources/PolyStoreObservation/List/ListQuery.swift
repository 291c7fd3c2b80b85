import PolyStoreBackend
import PolyStoreKernel

/// The objects of a list, their order and their sections, independent of the type of the objects.
struct ListQuery: Sendable {
    let entityName: String
    let isSectioned: Bool
    /// Resolves the stores that currently contain the entity.
    let resolve: @Sendable (Context) throws -> ResolvedList
    /// Returns whether an open store contains the entity and is one that the query names.
    private let hasStore: @Sendable (Context) -> Bool
    /// Returns the name of the section of a value.
    let sectionName: @Sendable (QueryValue?) -> String

    init<T: Model>(_ chain: FetchChain<T>, _ sectionBy: SectionBy<T>?) {
        entityName = T._$entityName
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
