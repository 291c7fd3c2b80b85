/// The pages that a flush reads, for backends that read them before with other requests.
extension SearchIndexWriter {
    /// The key of the page that every change reads and writes.
    package static let structureKey = PageKey.structure

    /// Returns the keys of the pages that a flush of changes of documents reads, apart from those of merges.
    package static func keys(ofDocuments documents: [Int64]) -> [[UInt8]] {
        [PageKey.structure] + Set(documents.map { PageKey.chunk($0.documentKey) }).sorted().map(PageKey.lengths)
    }
}
