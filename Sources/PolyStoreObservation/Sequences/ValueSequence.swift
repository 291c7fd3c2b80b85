import PolyStoreBackend
import PolyStoreKernel
import PolyStoreRuns

/// The results of a query of values: the current one, then one after each commit that changes it.
///
/// Each iteration observes the stack independently, from its first `next()` until it ends. A slow consumer receives only the latest
/// result; equal consecutive results are delivered once. The sequence ends when the task is cancelled or the stack is released, and throws errors of the
/// query.
public struct ValueSequence<Value: Sendable & Equatable>: AsyncSequence, Sendable {
    let start: ObservationStart<Value>

    public func makeAsyncIterator() -> Iterator {
        var last: Value?
        return Iterator(
            elements: ObservedElements(start) { value in
                defer { last = value }
                return value == last ? nil : value
            })
    }

    /// The iterator of the sequence.
    public struct Iterator: AsyncIteratorProtocol {
        var elements: ObservedElements<Value, Value>

        /// Returns the latest result that differs from the previous one; `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Value? {
            try await elements.next(isolation: actor)
        }
    }
}

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

    /// Returns the values of an object, and nil while it does not exist: its current snapshot first, then one after each commit that changes it.
    ///
    ///     for try await jane in stack.values(of: jane.objectID) { print(jane?.name ?? "gone") }
    public func values<T: Model>(of id: ObjectID<T>, file: StaticString = #fileID, line: UInt = #line) -> ValueSequence<ObjectSnapshot<T>?>
    {
        core.values(of: { try $0.fetchSnapshot(id) }, CallSite("values", file: file, line: line))
    }

    /// Returns the rows of a query by columns.
    ///
    ///     for try await names in stack.values(of: From<Person>().where { $0.age > 17 }.select { $0.name }) { print(names) }
    public func values<Query: ReadableQuery>(
        of query: Query, file: StaticString = #fileID, line: UInt = #line
    ) -> ValueSequence<Query.Result> where Query.Result: Sendable & Equatable {
        core.values(of: { try query._$result(in: $0) }, CallSite("values", file: file, line: line))
    }
}

extension ViewContext {
    /// Returns the results of a query. The form of `DataStack.values(of:)` for code that has a view only.
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
        return ValueSequence { handoff in
            guard let core = core.object else {
                handoff.finish()
                return ObservationToken {}
            }
            let observed = ObservedValue(core, site, handoff, query)
            observed.start()
            return ObservationToken { observed.end() }
        }
    }
}
