import PolyStoreBackend

// Lists as sequences, off the main actor and on it. A list with sections is one that is given a `SectionBy`.

extension DataStack {
    /// The states of a list: the current one first, then one after each commit that changes it. Usable from any task or actor; the main actor is not
    /// involved.
    ///
    ///     for try await people in stack.snapshots(of: From<Person>().orderBy(.ascending(\.name))) {
    ///         print(people.count, people.first?.name ?? "")
    ///     }
    /// - Parameters:
    ///   - source: what to fetch, in which order.
    ///   - clauses: more of what to fetch, such as `OrderBy(.ascending(\.name))`.
    ///   - content: which values the snapshots contain. A change of other values alone is not delivered.
    public func snapshots<S: FetchSource>(
        of source: S, _ clauses: any FetchClause<S.Entity>..., content: SnapshotContent<S.Entity> = .all, file: StaticString = #fileID,
        line: UInt = #line
    ) -> ListSnapshotSequence<S.Entity> {
        ListSnapshotSequence(
            observation: ListObservation(observation, source.chain(clauses), nil, content, CallSite("snapshots", file: file, line: line)))
    }

    /// The states of a list with sections; see ``snapshots(of:_:content:file:line:)``.
    public func snapshots<S: FetchSource>(
        of source: S, _ clauses: any FetchClause<S.Entity>..., sectionedBy section: SectionBy<S.Entity>,
        content: SnapshotContent<S.Entity> = .all, file: StaticString = #fileID,
        line: UInt = #line
    ) -> ListSnapshotSequence<S.Entity> {
        ListSnapshotSequence(
            observation: ListObservation(
                observation, source.chain(clauses), section, content, CallSite("snapshots", file: file, line: line)))
    }

    /// The changes of a list: the whole list first, then each change with the list that it leads to. Usable from any task or actor.
    ///
    ///     for try await update in stack.changes(of: From<Person>().orderBy(.ascending(\.name))) {
    ///         guard let changes = update.changes else { continue }       // the first one is the whole list
    ///         print(changes.inserted.count, changes.deleted.count)
    ///     }
    /// - Parameters:
    ///   - source: what to fetch, in which order.
    ///   - clauses: more of what to fetch, such as `OrderBy(.ascending(\.name))`.
    ///   - content: which values the snapshots contain. A change of other values is no update.
    public func changes<S: FetchSource>(
        of source: S, _ clauses: any FetchClause<S.Entity>..., content: SnapshotContent<S.Entity> = .all, file: StaticString = #fileID,
        line: UInt = #line
    ) -> ListUpdateSequence<S.Entity> {
        ListUpdateSequence(
            observation: ListObservation(observation, source.chain(clauses), nil, content, CallSite("changes", file: file, line: line)))
    }

    /// The changes of a list with sections; see ``changes(of:_:content:file:line:)``.
    public func changes<S: FetchSource>(
        of source: S, _ clauses: any FetchClause<S.Entity>..., sectionedBy section: SectionBy<S.Entity>,
        content: SnapshotContent<S.Entity> = .all, file: StaticString = #fileID,
        line: UInt = #line
    ) -> ListUpdateSequence<S.Entity> {
        ListUpdateSequence(
            observation: ListObservation(observation, source.chain(clauses), section, content, CallSite("changes", file: file, line: line)))
    }
}
