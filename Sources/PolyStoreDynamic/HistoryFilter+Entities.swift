import PolyStoreHistory
import PolyStoreKernel

extension DataStack {
    /// Returns a filter for changes of the objects of an entity of a store that is opened without classes, and of its subentities.
    ///
    ///     let history = try await stack.history(matching: stack.historyFilter(of: "Person"))
    /// - Throws: `storeNotFound` for an unknown entity.
    public func historyFilter(of entity: String) throws -> HistoryFilter {
        let kind = try entry(named: entity).entity.entityClass(named: entity)
        let names = kind?.concreteNames ?? []
        // An abstract entity without subentities has no objects; a filter without names would select every change.
        return (names.isEmpty ? [entity] : names).reduce(.all) { $0.changes(ofEntityNamed: $1) }
    }
}
