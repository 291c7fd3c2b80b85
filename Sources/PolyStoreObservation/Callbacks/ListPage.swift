import PolyStoreBackend
import PolyStoreKernel

/// The most recently accessed objects of a monitored list, read a page at a time.
final class ListPage<T: Model> {
    private static var size: Int { 64 }

    /// The pages by first position, the most recently used one last. There are two, so that access around a page boundary does not read both pages repeatedly.
    private var pages: [(start: Int, objects: [T])] = []

    func removeAll() { pages = [] }

    /// - Parameter position: a position of the list.
    func object(at position: Int, of list: FollowedList, _ context: Context) -> T {
        let row = list[position]
        if let registered = context.registered(T.self, row.entityIndex, row.rowID), !registered._$state.isFault { return registered }
        let start = position / Self.size * Self.size
        if !pages.contains(where: { $0.start == start }) {
            let rows = list.rows.rows(start..<min(start + Self.size, list.count))
            if pages.count == 2 { pages.removeFirst() }
            pages.append((start, objects(rows, context)))
        }
        return context.object(T.self, row.entityIndex, row.rowID)
    }

    private func objects(_ rows: [RowReference], _ context: Context) -> [T] {
        var keys: [Int32: [Int64]] = [:]
        for row in rows { keys[row.entityIndex, default: []].append(row.rowID) }
        do {
            return try keys.flatMap { try context.objects(T.self, $0, $1) }
        } catch {
            context.log(.error, "Reading a page of a list of \(T._$entityName) failed: \(error)")
            return []
        }
    }
}
