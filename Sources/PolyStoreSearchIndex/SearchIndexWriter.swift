import PolyStoreSearch

/// Maintains the index of one search in a write transaction.
///
/// Changes are collected and written by ``flush()``, before a search of the same transaction and before its commit, and also when they exceed a limit of memory.
public final class SearchIndexWriter {
    /// Creates a writer. Reads nothing before the first change is written.
    public init(_ pages: any SearchPageWriter, fields: Int, options: SearchOptions) {}

    /// Replaces the texts of a document in the index.
    /// - Parameters:
    ///   - document: The id of the document, any 64-bit integer.
    ///   - old: The texts that the index has for the document, one for each field; nil for a document that it does not have.
    ///   - new: The texts that it is to have; nil to remove the document.
    public func replace(_ document: Int64, old: [String?]?, new: [String?]?) throws {}

    /// Writes the collected changes and a bounded part of the merges that are due.
    public func flush() throws {}
}
