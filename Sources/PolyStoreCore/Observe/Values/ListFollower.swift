import PolyStoreBackend

/// Follows a list of a context and keeps the values of its objects.
///
/// Used where its context is used. It does not keep the context alive, nor does the context keep it.
final class ListFollower<T: Model> {
    private(set) var recorder: ListRecorder<T>
    private var list: ObservedList
    private let content: SnapshotContent<T>
    private let onChange: (ListContents, ListDelta) -> Void
    /// What was not reported yet.
    private var change: ListDelta?
    /// A Boolean value that indicates whether the list could not be read, and must be read again.
    private var isOutdated = false

    /// - Parameter onChange: called with each change when the context shows it.
    init(
        _ query: ListQuery, _ content: SnapshotContent<T>, _ context: Context, onChange: @escaping (ListContents, ListDelta) -> Void
    ) throws {
        self.content = content
        self.onChange = onChange
        // Before the list is read, so that no commit is between the two.
        let observers = context.startObserving()
        list = try ObservedList(query, context)
        recorder = try ListRecorder(list.groups, isSectioned: query.isSectioned, content, reading: context)
        observers.add(self)
    }

    var contents: ListContents { recorder.contents }

    /// Replaces the list by another one.
    /// - Throws: what a fetch throws; the list then stays as it was.
    func refetch(_ query: ListQuery, _ context: Context) throws {
        let new = try ObservedList(query, context)
        recorder = try ListRecorder(new.groups, isSectioned: query.isSectioned, content, reading: context)
        list = new
        change = nil
    }

    /// - Returns: what changed; nil if nothing did.
    private func update(_ move: ContextMove, _ context: Context) throws -> ListDelta? {
        guard !isOutdated, !move.isPartial, !move.hasNewStores else {
            _ = try list.refetch(context) { _ in false }
            return try recorder.reload(list.groups, reading: context)
        }
        guard let delta = try list.update(move.step, context) else { return nil }
        if let applied = try recorder.apply(delta, reading: context) { return applied }
        context.log(.error, "A change of a list of \(list.query.entityName) does not fit the list, which is read again.")
        return try recorder.reload(list.groups, reading: context)
    }
}

extension ListFollower: ContextObserver {
    func contextWillMove(_ move: ContextMove) {}

    func contextDidMove(_ move: ContextMove, _ context: Context) {
        do {
            let delta = try update(move, context)
            isOutdated = false
            change = delta.flatMap { $0.isEmpty ? nil : $0 }
        } catch {
            isOutdated = true
            context.log(.error, "An observed list of \(list.query.entityName) could not be brought up to date: \(error)")
        }
    }

    func notify() {
        guard let change else { return }
        self.change = nil
        onChange(contents, change)
    }
}
