import PolyStoreBackend
import PolyStoreKernel

/// A change of a followed list, as its subscribers receive it.
struct ListNotification: Sendable {
    /// The list after the change; without rows if it is followed without values.
    let contents: ListContents
    /// The difference from the list before; `nil` if another query replaced it.
    let delta: ListDelta?
    /// The number of the last subscriber to whom the change is reported; see ``Subscribers``.
    let audience: Int
}

/// The list of a query in one context: rows, sections and, if requested, the values of the objects.
///
/// It follows the moves of the context, and reports each change to its subscribers when all lists and objects of the context show the move. Monitors,
/// publishers, live lists and sequences subscribe to it. The list and the context do not retain each other.
final class FollowedList {
    // Loggers and closures of sections are called while the rows change.
    @exclusivity(unchecked) private(set) var rows: ListRows
    private(set) var contents: ListContents
    let subscribers = Subscribers<(ListNotification) -> Void>()
    /// The change that has not been reported yet, with the owner of the first subscriber, which is kept until then.
    private(set) var unreported: (change: ListNotification, owner: AnyObject?)?
    /// A Boolean value that indicates whether the values of the objects are kept.
    private let keepsValues: Bool
    private var state = ReadState()

    /// Reads a list and follows it.
    /// - Parameter shape: The values to keep; `nil` to keep only the rows.
    init(_ query: ListQuery, _ context: Context, keeping shape: SnapshotShape? = nil) throws {
        // Observation starts before the list is read, so that no commit in between is missed.
        context.beginReading()
        defer { context.endReading() }
        let observers = context.startObserving()
        rows = try ListRows(query, query.resolve(context), context)
        keepsValues = shape != nil
        contents = try shape.map { [rows] in try ListContents(rows, $0, context) } ?? ListContents(withoutValuesIn: context)
        observers.add(self)
    }

    /// Follows a list that was read from the snapshots that the context shows.
    init(_ rows: ListRows, _ context: Context) {
        self.rows = rows
        keepsValues = false
        contents = ListContents(withoutValuesIn: context)
        context.startObserving().add(self)
    }

    // MARK: Access

    var count: Int { rows.sections.rowCount }

    subscript(position: Int) -> RowReference {
        rows.mode == .incremental ? RowReference(entityIndex: rows.entityIndex, rowID: rows.ordered[position]) : rows.listed[position]
    }

    func position(of row: RowReference) -> Int? { rows.position(of: row) }

    // MARK: Changes

    /// Replaces the list by that of another query: immediately, or, in a callback, when all callbacks have returned.
    /// - Parameter willReplace: Called before the list is replaced. Returns the audience of the change; `nil` for all subscribers.
    /// - Throws: Errors of a fetch; the list is then unchanged.
    func refetch(_ query: ListQuery, _ context: Context, willReplace: @escaping () -> Int? = { nil }) throws {
        context.beginReading()
        defer { context.endReading() }
        let rows = try ListRows(query, query.resolve(context), context)
        var read: (rows: ListRows, contents: ListContents)? = (rows, try values(of: rows, context))
        context.report { [self] isDeferred in
            guard var new = read.take() else { return }
            var state = ReadState()
            if isDeferred {
                // The context may have moved in the meantime.
                let again = state.read(context, "An observed list of \(query.entityName) could not be read") {
                    let rows = try new.rows.readAgain(context)
                    return (rows, try values(of: rows, context))
                }
                new = again ?? new
            }
            let audience = willReplace() ?? subscribers.numbers.last
            (self.rows, contents, self.state, unreported) = (new.rows, new.contents, state, nil)
            observeAgain(context)
            let change = ListNotification(contents: contents, delta: nil, audience: audience)
            subscribers.forEach(through: subscribers.numbers.last) { $0(change) }
        }
    }

    /// Returns the values of rows, with the fields that the list keeps.
    private func values(of rows: ListRows, _ context: Context) throws -> ListContents {
        keepsValues ? try ListContents(rows, contents.shape.updated(to: context.table), context) : contents
    }

    private func replaceContents(by rows: ListRows, _ context: Context) throws -> ListDelta {
        let new = try values(of: rows, context)
        defer { contents = new }
        return new.delta(from: contents)
    }

    /// - Returns: The change; `nil` if there is none.
    private func follow(_ move: ContextMove, _ context: Context, wasOutdated: Bool) throws -> ListDelta? {
        if wasOutdated || move.isPartial || move.hasNewStores {
            let new = try rows.readAgain(context)
            guard keepsValues else {
                return rows.replace(by: new) { wasOutdated || move.step.row($0.entityIndex, $0.rowID)?.isUpdate ?? move.isChanged($0) }
            }
            defer { rows = new }
            return try replaceContents(by: new, context)
        }
        let delta = try rows.update(move.step, context)
        guard keepsValues, let delta, !delta.isEmpty else { return delta }
        if let (changed, difference) = try contents.following(delta, rows.query.type, context) {
            contents = changed
            return difference
        }
        context.log(.error, "A change of a list of \(rows.query.entityName) does not fit the list, which is read again.")
        return try replaceContents(by: rows, context)
    }
}

extension FollowedList: ContextObserver {
    var route: ObserverRoute? { rows.route }
    var observedEntities: [Int32]? { rows.resolved.parts.map(\.entityIndex) }

    func contextDidMove(_ move: ContextMove, _ context: Context) {
        let wasOutdated = state.isOutdated
        let delta = state.read(context, "An observed list of \(rows.query.entityName) could not be brought up to date") {
            try follow(move, context, wasOutdated: wasOutdated)
        }
        if case .some(let delta?) = delta, !delta.isEmpty {
            unreported = (ListNotification(contents: contents, delta: delta, audience: subscribers.numbers.last), subscribers.firstOwner)
        }
        if move.hasNewStores { observeAgain(context) }
    }

    func notify() {
        guard let (change, owner) = unreported else { return }
        unreported = nil
        withExtendedLifetime(owner) { subscribers.forEach(through: change.audience) { $0(change) } }
    }
}
