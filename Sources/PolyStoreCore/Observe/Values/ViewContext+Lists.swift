extension ViewContext {
    /// The states of a list, in step with this view: when one is delivered, the view shows it or a later one. See
    /// ``DataStack/snapshots(of:_:content:file:line:)``. The sequence keeps the view alive.
    @MainActor
    public func snapshots<S: FetchSource>(
        of source: S, _ clauses: any FetchClause<S.Entity>..., content: SnapshotContent<S.Entity> = .all
    ) -> ListSnapshotSequence<S.Entity> {
        ListSnapshotSequence(observation: ListObservation(self, source.chain(clauses), nil, content))
    }

    /// The states of a list with sections, in step with this view.
    @MainActor
    public func snapshots<S: FetchSource>(
        of source: S, _ clauses: any FetchClause<S.Entity>..., sectionedBy section: SectionBy<S.Entity>,
        content: SnapshotContent<S.Entity> = .all
    ) -> ListSnapshotSequence<S.Entity> {
        ListSnapshotSequence(observation: ListObservation(self, source.chain(clauses), section, content))
    }

    /// The changes of a list, in step with this view; see ``DataStack/changes(of:_:content:file:line:)``. The sequence keeps the view alive.
    @MainActor
    public func changes<S: FetchSource>(
        of source: S, _ clauses: any FetchClause<S.Entity>..., content: SnapshotContent<S.Entity> = .all
    ) -> ListUpdateSequence<S.Entity> {
        ListUpdateSequence(observation: ListObservation(self, source.chain(clauses), nil, content))
    }

    /// The changes of a list with sections, in step with this view.
    @MainActor
    public func changes<S: FetchSource>(
        of source: S, _ clauses: any FetchClause<S.Entity>..., sectionedBy section: SectionBy<S.Entity>,
        content: SnapshotContent<S.Entity> = .all
    ) -> ListUpdateSequence<S.Entity> {
        ListUpdateSequence(observation: ListObservation(self, source.chain(clauses), section, content))
    }
}
