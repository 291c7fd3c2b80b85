import PolyStoreKernel

extension ViewContext {
    /// Returns the states of a list in step with this view: when a state is delivered, the view shows it or a later one. See
    /// ``DataStack/snapshots(of:_:sectionBy:content:file:line:)``. The sequence retains the view.
    @MainActor
    public func snapshots<S: FetchSource>(
        of source: S, _ clauses: any FetchClause<S.Entity>..., sectionBy section: SectionBy<S.Entity>? = nil,
        content: SnapshotContent<S.Entity> = .all
    ) -> ListSnapshotSequence<S.Entity> {
        ListSnapshotSequence(observation: ListObservation(self, source.chain(clauses), section, content))
    }

    /// Returns the changes of a list in step with this view; see ``DataStack/changes(of:_:sectionBy:content:file:line:)``. The sequence retains the view.
    @MainActor
    public func changes<S: FetchSource>(
        of source: S, _ clauses: any FetchClause<S.Entity>..., sectionBy section: SectionBy<S.Entity>? = nil,
        content: SnapshotContent<S.Entity> = .all
    ) -> ListUpdateSequence<S.Entity> {
        ListUpdateSequence(observation: ListObservation(self, source.chain(clauses), section, content))
    }
}
