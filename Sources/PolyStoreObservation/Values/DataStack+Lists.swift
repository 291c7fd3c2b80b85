import PolyStoreBackend
import PolyStoreKernel

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
        ListSnapshotSequence(
            observation: ListObservation(
                observation, source.chain(clauses), section, content, CallSite("snapshots", file: file, line: line)))
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
        ListUpdateSequence(
            observation: ListObservation(observation, source.chain(clauses), section, content, CallSite("changes", file: file, line: line)))
    }
}
