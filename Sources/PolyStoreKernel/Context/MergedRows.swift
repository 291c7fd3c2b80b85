import PolyStoreBackend
import PolyStoreQuery

/// The rows of a fetch in several stores, in one order, with limit and offset applied.
final class MergedRows {
    private let walk: MergedCursors
    private var toSkip: Int
    private var left: Int

    /// - Parameter open: opens the cursor of a store.
    init(_ fetch: ResolvedFetch, _ context: Context, _ open: (ResolvedFetch.Part) throws -> RecordCursor) throws {
        walk = MergedCursors(fetch.parts[0].request.sortKeys)
        toSkip = fetch.options.offset
        left = fetch.options.limit ?? .max
        do {
            for part in fetch.parts {
                guard part.request.hasComputedKeys else {
                    try walk.add(open(part), nil)
                    continue
                }
                let (rows, related) = try open(part).ahead(
                    nil, part.request.sortKeys.compactMap(\.expression), try context.related(part.entry.store, part.options),
                    part.entry.entity.layout, limit: part.request.limit)
                try walk.add(rows, SortValues(part.request.sortKeys, related))
            }
        } catch {
            walk.close()
            throw error
        }
    }

    /// Advances to the next row.
    /// - Returns: the index of the part of the fetch that has the row; nil at the end.
    func next() throws -> Int? {
        while left > 0, let index = try walk.next() {
            if toSkip > 0 {
                toSkip -= 1
                continue
            }
            left -= 1
            return index
        }
        return nil
    }

    /// Returns the cursor of a part.
    func cursor(_ index: Int) -> RecordCursor { walk.cursors[index] }

    func close() { walk.close() }
}
