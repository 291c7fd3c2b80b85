import PolyStoreBackend
import PolyStoreDynamic
import PolyStoreKernel

extension Context {
    /// Returns the index that would let a fetch read the fewest rows, for each store that it reads; none if no index would help, or if there is one already.
    ///
    /// The fetch is executed once for its plan, and each possible index costs the count of the rows that it would find. Conditions on attributes and to-one relationships that are combined
    /// with AND are considered, and the order of a fetch with a limit; calculations, paths and OR are not. Pending changes of a transaction do not count.
    /// - Throws: The errors of ``fetchAll(_:)-(S)``.
    public func indexAdvice<S: FetchSource>(_ source: S) throws -> [IndexAdvice] {
        try resolve(source.chain).parts.compactMap { try IndexAdviser($0.request, storage($0.entry.store)).advice() }
    }

    /// Returns the index that would let a fetch of objects without classes read the fewest rows; see ``indexAdvice(_:)-(S)``.
    public func indexAdvice(_ query: EntityQuery) throws -> [IndexAdvice] {
        let entry = try entry(named: query.entity)
        func advice<T: Model>(_ type: T.Type) throws -> [IndexAdvice] { try indexAdvice(query.chain(type, entry)) }
        return try advice(entry.type)
    }
}
