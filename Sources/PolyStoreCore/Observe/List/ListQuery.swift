import PolyStoreBackend

/// The objects of a list, their order and their sections, independent of the type of the objects.
struct ListQuery: Sendable {
    let entityName: String
    let isSectioned: Bool
    /// Resolves the stores that currently contain the entity.
    let resolve: @Sendable (Context) throws -> ResolvedList
    /// Returns the name of the section of a value.
    let sectionName: @Sendable (QueryValue?) -> String

    init<T: Model>(_ chain: FetchChain<T>, _ sectionBy: SectionBy<T>?) {
        entityName = T._$entityName
        isSectioned = sectionBy != nil
        if let sectionBy { sectionName = sectionBy.name } else { sectionName = { _ in "" } }
        resolve = { context in try Self.resolve(chain, sectionBy, context) }
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
