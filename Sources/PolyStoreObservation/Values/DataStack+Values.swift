import PolyStoreBackend
import PolyStoreKernel
import PolyStoreRuns

extension DataStack {
    /// Returns the results of a query: the current one first, then one after each commit that changes it. Usable from any task or actor.
    ///
    ///     for try await total in stack.values(of: { try $0.queryValue(From<Order>(), .sum(\.amount)) }) { print(total) }
    ///
    /// The query runs on a thread of the stack, in its own snapshot. It runs again only after commits that change its dependencies:
    /// entities, the fields that conditions, orders and functions read, and the relationships that they follow. Data outside the
    /// store and named values of the store are not observed.
    /// - Parameters:
    ///   - query: Called once for each result; must not wait for a transaction.
    ///   - file: The source file of the call, for log messages and errors.
    ///   - line: The source line of the call, for log messages and errors.
    public func values<Value: Sendable & Equatable>(
        of query: @escaping @Sendable (SnapshotContext) throws -> Value, file: StaticString = #fileID, line: UInt = #line
    ) -> ValueSequence<Value> {
        core.values(of: query, CallSite("values", file: file, line: line))
    }

    /// Returns the values of an aggregate over all matching objects, such as a count, sum or average.
    ///
    ///     for try await count in stack.values(of: From<Person>().where(\.age > 17), .count) { print(count) }
    public func values<S: FetchSource, Value: Sendable & Equatable>(
        of source: S, _ aggregate: AggregateOf<S.Entity, Value>, file: StaticString = #fileID, line: UInt = #line
    ) -> ValueSequence<Value> {
        core.values(of: { try $0.queryValue(source, aggregate) }, CallSite("values", file: file, line: line))
    }
}

extension ViewContext {
    /// Returns the results of a query. The form of ``DataStack/values(of:file:line:)`` for code that has a view only.
    ///
    /// Unlike ``snapshots(of:_:sectionBy:content:)``, the sequence is not in step with the view: each result is of the latest commit, which the view
    /// may show slightly later.
    public func values<Value: Sendable & Equatable>(
        of query: @escaping @Sendable (SnapshotContext) throws -> Value, file: StaticString = #fileID, line: UInt = #line
    ) -> ValueSequence<Value> {
        core.values(of: query, CallSite("values", file: file, line: line))
    }

    /// Returns the values of an aggregate over all matching objects. The form of ``DataStack/values(of:_:file:line:)`` for code that has a view only, and not in
    /// step with the view.
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
