import PolyStoreBackend
import PolyStoreKernel

/// Follows a list of a context and keeps the values of its objects.
///
/// Used where its context is used. The follower and the context do not retain each other.
final class ListFollower<T: Model> {
    private(set) var recorder: ListRecorder<T>
    private var followed: FollowedList
    private let content: SnapshotContent<T>
    private let onChange: (ListContents, ListDelta) -> Void
    /// The change that has not been reported yet.
    private var change: ListDelta?

    /// - Parameter onChange: Called with each change when the context shows it.
    init(
        _ query: ListQuery, _ content: SnapshotContent<T>, _ context: Context, onChange: @escaping (ListContents, ListDelta) -> Void
    ) throws {
        self.content = content
        self.onChange = onChange
        // Observation starts before the list is read, so that no commit in between is missed.
        let observers = context.startObserving()
        let list = try ObservedList(query, context)
        followed = FollowedList(list)
        recorder = try ListRecorder(list.groups, isSectioned: query.isSectioned, content, reading: context)
        observers.add(self)
    }

    var contents: ListContents { recorder.contents }

    /// A list that can replace the current one.
    struct Prepared {
        fileprivate let query: ListQuery
        fileprivate let list: ObservedList
        fileprivate let recorder: ListRecorder<T>
        /// A Boolean value that indicates whether the list must be fetched again with the next move.
        fileprivate var isOutdated = false
    }

    /// Reads the list of another query.
    /// - Parameter isKnown: Whether the query was resolved before; see ``ListQuery/resolveAgain(_:)``.
    func prepared(_ query: ListQuery, _ context: Context, isKnown: Bool = false) throws -> Prepared {
        let list = try ObservedList(query, context, isKnown: isKnown)
        return Prepared(
            query: query, list: list,
            recorder: try ListRecorder(list.groups, isSectioned: query.isSectioned, content, reading: context))
    }

    /// Reads a list again, which the context may show with other contents. An error is logged.
    func preparedAgain(_ old: Prepared, _ context: Context) -> Prepared {
        do {
            return try prepared(old.query, context, isKnown: true)
        } catch {
            context.logFailedRead(error, "An observed list of \(old.query.entityName) could not be read")
            var outdated = old
            outdated.isOutdated = true
            return outdated
        }
    }

    /// Replaces the list.
    func replace(by new: Prepared, _ context: Context) {
        recorder = new.recorder
        followed = FollowedList(new.list, isOutdated: new.isOutdated)
        change = nil
        observeAgain(context)
    }

    /// Applies a change of the list to its values.
    private func record(_ delta: ListDelta?, isReadAgain: Bool, _ context: Context) throws -> ListDelta? {
        let list = followed.list
        if !isReadAgain {
            guard let delta else { return nil }
            if let applied = try recorder.apply(delta, reading: context) { return applied }
            context.log(.error, "A change of a list of \(list.query.entityName) does not fit the list, which is read again.")
        }
        return try recorder.reload(list.groups, reading: context)
    }
}

extension ListFollower: ContextObserver {
    var route: ObserverRoute? { followed.list.route }
    var observedEntities: [Int32]? { followed.list.resolved.parts.map(\.entityIndex) }

    func contextDidMove(_ move: ContextMove, _ context: Context) {
        // The values are compared instead of the objects.
        change = followed.follow(move, context, comparesObjects: false) { try record($0, isReadAgain: $1, context) }
        if move.hasNewStores { observeAgain(context) }
    }

    func notify() {
        guard let change else { return }
        self.change = nil
        onChange(contents, change)
    }
}
