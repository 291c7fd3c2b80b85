import PolyStoreBackend
import PolyStoreKernel

/// An observed list that follows the moves of its context. It is refetched if a move is incomplete or an earlier read failed.
final class FollowedList {
    let list: ObservedList
    /// A Boolean value that indicates whether reading the list failed, so that it must be refetched.
    private var isOutdated: Bool

    init(_ list: ObservedList, isOutdated: Bool = false) {
        self.list = list
        self.isOutdated = isOutdated
    }

    /// Fetches the list again, before it is shown. An error is logged, and the list is refetched with the next move.
    func readAgain(_ context: Context) {
        isOutdated = true
        do {
            _ = try list.refetch(context) { _ in false }
            isOutdated = false
        } catch {
            context.logFailedRead(error, "An observed list of \(list.query.entityName) could not be read")
        }
    }

    /// Applies a move to the list. An error is logged, and the list is refetched with the next move.
    /// - Parameters:
    ///   - comparesObjects: A Boolean value that indicates whether the objects of a refetched list are compared with the previous ones; otherwise none counts
    ///     as updated.
    ///   - take: Receives the change, `nil` if there is none, and whether the list was refetched. Returns the change to report.
    /// - Returns: The change to report; `nil` if there is none.
    func follow(
        _ move: ContextMove, _ context: Context, comparesObjects: Bool = true,
        _ take: (_ delta: ListDelta?, _ isReadAgain: Bool) throws -> ListDelta? = { delta, _ in delta }
    ) -> ListDelta? {
        do {
            let (wasOutdated, isReadAgain) = (isOutdated, isOutdated || move.isPartial || move.hasNewStores)
            // Cleared after everything has succeeded.
            isOutdated = true
            let change: ListDelta?
            if isReadAgain {
                change = try list.refetch(context) { row in
                    comparesObjects && (wasOutdated || move.step.row(row.entityIndex, row.rowID)?.isUpdate ?? move.isChanged(row))
                }
            } else {
                change = try list.update(move.step, context)
            }
            let taken = try take(change, isReadAgain)
            isOutdated = false
            return taken.flatMap { $0.isEmpty ? nil : $0 }
        } catch {
            context.logFailedRead(error, "An observed list of \(list.query.entityName) could not be brought up to date")
            return nil
        }
    }
}
