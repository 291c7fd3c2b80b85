import PolyStoreBackend
import PolyStoreKernel

extension Context {
    /// Iterates over all objects of a query in order, in batches, for results that should not be in memory as a whole; see ``fetchInBatches(_:size:_:)-(S,_,_)``.
    /// - Parameters:
    ///   - query: The objects to fetch, including limit and offset.
    ///   - size: The maximum number of objects in a batch.
    ///   - body: Called with each batch, which is never empty. An error that it throws ends the iteration.
    /// - Throws: `misuse` for a size below 1, the errors of ``fetchAll(_:)-(EntityQuery)``, and those of `body`.
    public func fetchInBatches(_ query: EntityQuery, size: Int = 500, _ body: ([DynamicObject]) throws -> Void) throws {
        let entry = try entry(named: query.entity)
        func fetch<T: Model>(_ type: T.Type) throws {
            try fetchInBatches(query.chain(type, entry), size: size) { try body($0.compactMap { $0 as? DynamicObject }) }
        }
        try fetch(entry.type)
    }
}
