/// An index that cannot be read.
public enum SearchIndexError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A page does not contain what the format requires. The text says which page and what is wrong.
    case damaged(String)
    /// The index was written in a format that this release does not know.
    case unknownFormat(Int)

    /// What is wrong, and the way out.
    public var description: String {
        switch self {
        case .damaged(let reason): "The search index is damaged: \(reason). Build it again."
        case .unknownFormat(let format):
            "The search index has the format \(format), which this release cannot read. Open the store with a newer release, or build the index again."
        }
    }
}
