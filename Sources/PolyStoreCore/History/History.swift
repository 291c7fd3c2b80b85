/// The answer to ``DataStack/history(since:matching:limit:)``: entries in the order of the commits. Entries of different stores are ordered by their dates.
public struct History: Sendable, RandomAccessCollection {
    /// The point behind everything that was looked at, entries that the filter left out included: what to pass to the next call.
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
