/// An index that cannot be read.
public enum SearchIndexError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A page does not have the form that the format requires. The text names the page and the problem.
    case damaged(String)
    /// The index was written in a format that this release does not know.
    case unknownFormat(Int)

    /// The error, and what to do.
    public var description: String {
        switch self {
        case .damaged(let reason): "The search index is damaged: \(reason). Build it again."
        case .unknownFormat(let format):
            "The search index has the format \(format), which this release cannot read. Open the store with a newer release, or build the index again."
        }
    }
}
