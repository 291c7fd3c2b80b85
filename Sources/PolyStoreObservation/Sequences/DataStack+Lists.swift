import PolyStoreBackend
import PolyStoreKernel
import PolyStoreRuns

// Lists as sequences, off the main actor.

extension DataStack {
    /// Returns the states of a list: the current one first, then one after each commit that changes it. Usable from any task or actor; the main actor is not
    /// involved.
    ///
    ///     for try await people in stack.snapshots(of: From<Person>().orderBy(.ascending(\.name))) {
    ///         print(people.count, people.first?.name ?? "")
    ///     }
    /// - Parameters:
    ///   - source: The query and its order.
    ///   - clauses: Further clauses, such as `OrderBy(.ascending(\.name))`.
    ///   - section: The division into sections; `nil` for a list without sections.
    ///   - content: The values that the snapshots contain. Changes of other values are not delivered.
    ///   - file: The source file of the call, for log messages and errors.
    ///   - line: The source line of the call, for log messages and errors.
    public func snapshots<S: FetchSource>(
        of source: S, _ clauses: any FetchClause<S.Entity>..., sectionBy section: SectionBy<S.Entity>? = nil,
        content: SnapshotContent<S.Entity> = .all, file: StaticString = #fileID,
        line: UInt = #line
    ) -> ListSnapshotSequence<S.Entity> {
        ListSnapshotSequence(start: steps(source.chain(clauses), section, content, CallSite("snapshots", file: file, line: line)))
    }

    /// Returns the changes of a list: the whole list first, then each change with the resulting list. Usable from any task or actor.
    ///
    ///     for try await update in stack.changes(of: From<Person>().orderBy(.ascending(\.name))) {
    ///         guard let changes = update.changes else { continue }       // the first one is the whole list
    ///         print(changes.inserted.count, changes.deleted.count)
    ///     }
    /// - Parameters:
    ///   - source: The query and its order.
    ///   - clauses: Further clauses, such as `OrderBy(.ascending(\.name))`.
    ///   - section: The division into sections; `nil` for a list without sections.
    ///   - content: The values that the snapshots contain. A change of other values is not an update.
    ///   - file: The source file of the call, for log messages and errors.
    ///   - line: The source line of the call, for log messages and errors.
    public func changes<S: FetchSource>(
        of source: S, _ clauses: any FetchClause<S.Entity>..., sectionBy section: SectionBy<S.Entity>? = nil,
        content: SnapshotContent<S.Entity> = .all, file: StaticString = #fileID,
        line: UInt = #line
    ) -> ListUpdateSequence<S.Entity> {
        ListUpdateSequence(start: steps(source.chain(clauses), section, content, CallSite("changes", file: file, line: line)))
    }
}

extension ViewContext {
    /// Returns the states of a list in step with this view: when a state is delivered, the view shows it or a later one. See
    /// ``DataStack/snapshots(of:_:sectionBy:content:file:line:)``. The sequence retains the view.
    @MainActor
    public func snapshots<S: FetchSource>(
        of source: S, _ clauses: any FetchClause<S.Entity>..., sectionBy section: SectionBy<S.Entity>? = nil,
        content: SnapshotContent<S.Entity> = .all
    ) -> ListSnapshotSequence<S.Entity> {
        ListSnapshotSequence(start: steps(source.chain(clauses), section, content))
    }

    /// Returns the changes of a list in step with this view; see ``DataStack/changes(of:_:sectionBy:content:file:line:)``. The sequence retains the view.
    @MainActor
    public func changes<S: FetchSource>(
        of source: S, _ clauses: any FetchClause<S.Entity>..., sectionBy section: SectionBy<S.Entity>? = nil,
        content: SnapshotContent<S.Entity> = .all
    ) -> ListUpdateSequence<S.Entity> {
        ListUpdateSequence(start: steps(source.chain(clauses), section, content))
    }
}

extension DataStack {
    /// Returns the steps of a list on the queue of the stack, which is not retained.
    private func steps<T: Model>(
        _ chain: FetchChain<T>, _ section: SectionBy<T>?, _ content: SnapshotContent<T>, _ site: CallSite
    ) -> ObservationStart<ListStep> {
        let observation = WeakReference(self.observation)
        return { handoff in
            guard let observation = observation.object else {
                handoff.finish()
                return ObservationToken {}
            }
            return observation.follow(handoff, site) { context in
                try FollowedList(ListQuery(chain, section), context, keeping: context.snapshotShape(content))
            }
        }
    }
}

extension ViewContext {
    /// Returns the steps of a list of the view, which is retained.
    @MainActor
    private func steps<T: Model>(
        _ chain: FetchChain<T>, _ section: SectionBy<T>?, _ content: SnapshotContent<T>
    ) -> ObservationStart<ListStep> {
        let core = core
        let start: @MainActor (Handoff<ListStep>) throws -> ObservationToken = { handoff in
            let list = try FollowedList(ListQuery(chain, section), self, keeping: self.snapshotShape(content))
            list.deliver(to: handoff)
            let end = core.sequenceEnds.add { handoff.finish() }
            let kept = MainActorBox(list)
            return ObservationToken {
                core.sequenceEnds.remove(end)
                Task { @MainActor in kept.release() }
            }
        }
        return { try await start($0) }
    }
}

extension FollowedList {
    /// Passes the list and then its changes to a handoff.
    func deliver(to handoff: Handoff<ListStep>) {
        handoff.replace(with: ListStep(contents, nil))
        subscribers.add(handoff) { change in if let delta = change.delta { handoff.add(change.contents, delta) } }
    }
}

/// Retains a value of the main actor until it is released on the main actor.
private final class MainActorBox<Value>: @unchecked Sendable {  // the value is made and released on the main actor
    private var value: Value?

    @MainActor init(_ value: Value) { self.value = value }

    @MainActor func release() { value = nil }
}
