import PolyStoreKernel

/// The result of ``DataStack/history(since:matching:limit:file:line:)``: entries in commit order. Entries of different stores are ordered by date.
public struct History: Sendable, RandomAccessCollection {
    /// The point after all entries that were read, including those that the filter excluded. Pass it to the next call.
    public let token: HistoryToken
    /// A Boolean value that indicates whether the limit was reached before the end of the history.
    public let hasMore: Bool
    private let entries: [HistoryEntry]

    init(_ entries: [HistoryEntry], token: HistoryToken, hasMore: Bool) {
        self.entries = entries
        self.token = token
        self.hasMore = hasMore
    }

    public var startIndex: Int { entries.startIndex }
    public var endIndex: Int { entries.endIndex }
    public subscript(position: Int) -> HistoryEntry { entries[position] }
}
