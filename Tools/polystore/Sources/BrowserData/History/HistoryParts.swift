import PolyStoreCore

/// Reads the entries of a history backwards in parts, which have few entries where entries have many changes: the entries of one part are in memory together.
struct HistoryParts: Sendable {
    private let stack: DataStack
    private let storeID: String
    /// The position of the oldest entry.
    let oldest: Int64
    /// The position of the next entry to read; below ``oldest`` at the end.
    private(set) var end: Int64
    /// The number of positions of the next part.
    private var size: Int64

    private static let most: Int64 = 256
    /// The number of changes of a part beyond which the next one has fewer entries.
    private static let manyChanges = 2_000

    /// - Parameters:
    ///   - before: The position before which the first part ends; nil for the newest entry.
    ///   - size: The number of entries of the first part.
    /// - Returns: nil for a history without entries.
    init?(_ stack: DataStack, _ store: PersistentStore, before: Int64? = nil, size: Int64 = 8) async throws {
        let last = try await stack.historyToken().position(in: store.storeID)
        let first = try await stack.history(limit: 1).first?.token.position(in: store.storeID)
        guard let first, let last else { return nil }
        (self.stack, storeID, oldest, self.size) = (stack, store.storeID, first, size)
        end = min(last, max(1, before ?? .max) - 1)
    }

    /// Reads the next part.
    /// - Returns: The entries, newest first, which can be none; nil at the end.
    /// - Throws: `historyExpired` if others have deleted entries meanwhile, and the errors of the store.
    mutating func next() async throws -> [HistoryEntry]? {
        guard end >= oldest else { return nil }
        try Task.checkCancellation()
        let (start, last) = (max(oldest - 1, end - size), end)
        let token = try HistoryToken(storeID, position: start)
        let entries = try await stack.history(since: token, limit: Int(last - start)).filter {
            $0.token.position(in: storeID) ?? 0 <= last
        }
        let changes = entries.reduce(0) { $0 + $1.changes.count }
        size = changes > Self.manyChanges ? max(1, size / 4) : changes > Self.manyChanges / 4 ? size : min(size * 2, Self.most)
        end = start
        return entries.reversed()
    }
}
