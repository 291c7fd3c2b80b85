import PolyStoreBackend

extension DataStack {
    /// The results of a query, the current one first, then one after each commit that changes it. Usable from any task or actor.
    ///
    ///     for try await total in stack.values(of: { try $0.queryValue(From<Order>(), .sum(\.amount)) }) { … }
    ///
    /// The query runs on a thread of the stack, in a snapshot of its own. It runs again only after commits that touch what its requests depend on:
    /// entities, the fields that conditions, orders and functions look at, and the relationships that they lead over. What it reads outside of the
    /// store, and named values of the store, are not observed.
    /// - Parameter query: runs once for each result; must not wait for a transaction.
    public func values<Value: Sendable & Equatable>(
        of query: @escaping @Sendable (SnapshotContext) throws -> Value, file: StaticString = #fileID, line: UInt = #line
    ) -> ValueSequence<Value> {
        core.values(of: query, CallSite("values", file: file, line: line))
    }

    /// A value over all objects that match: how many there are, a sum, an average.
    ///
    ///     for try await count in stack.values(of: From<Person>().where(\.age > 17), .count) { … }
    public func values<S: FetchSource, Value: Sendable & Equatable>(
        of source: S, _ aggregate: AggregateOf<S.Entity, Value>, file: StaticString = #fileID, line: UInt = #line
    ) -> ValueSequence<Value> {
        core.values(of: { try $0.queryValue(source, aggregate) }, CallSite("values", file: file, line: line))
    }
}

extension ViewContext {
    /// The results of a query; see ``DataStack/values(of:file:line:)``. Each result is of the newest version, which the view may reach a moment later.
    public func values<Value: Sendable & Equatable>(
        of query: @escaping @Sendable (SnapshotContext) throws -> Value, file: StaticString = #fileID, line: UInt = #line
    ) -> ValueSequence<Value> {
        core.values(of: query, CallSite("values", file: file, line: line))
    }

    /// A value over all objects that match; see ``DataStack/values(of:_:file:line:)``.
    public func values<S: FetchSource, Value: Sendable & Equatable>(
        of source: S, _ aggregate: AggregateOf<S.Entity, Value>, file: StaticString = #fileID, line: UInt = #line
    ) -> ValueSequence<Value> {
        core.values(of: { try $0.queryValue(source, aggregate) }, CallSite("values", file: file, line: line))
    }
}

extension StackCore {
    func values<Value>(
        of query: @escaping @Sendable (SnapshotContext) throws -> Value, _ site: CallSite
    ) -> ValueSequence<Value> {
        let core = WeakReference(self)
        return ValueSequence { handoff in core.object.map { ObservedValue($0, site, handoff, query) } }
    }
}
