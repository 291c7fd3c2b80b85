/// The pages that a flush reads, for backends that read them before with other requests.
extension SearchIndexWriter {
    /// The key of the page that every change reads and writes.
    package static let structureKey = PageKey.structure

    /// Returns the keys of the pages that a flush of changes of documents reads, apart from those of merges.
    package static func keys(ofDocuments documents: [Int64]) -> [[UInt8]] {
        [PageKey.structure] + Set(documents.map { PageKey.chunk($0.documentKey) }).sorted().map(PageKey.lengths)
    }

    /// Returns the key for a seek of the last page of a term, from a key for a seek of another page of the term; nil for other keys.
    package static func endOfTerm(_ key: [UInt8]) -> [UInt8]? {
        guard key.first == PageKey.terms(0)[0],
            let end = key.indices.dropFirst(7).first(where: { key[$0] == 0 && key[($0 + 1)...].first != 255 })
        else { return nil }
        return key[..<end] + [0, 2]
    }

    /// Returns the end of the keys that are mostly read after a key: of the positions of a segment, or of the lengths; nil for other keys.
    package static func endOfSequence(_ key: [UInt8]) -> [UInt8]? {
        guard let kind = key.first, key.count >= PageKey.positions(0, 0).count else { return nil }
        if kind == PageKey.lengths(0)[0] { return [kind + 1] }
        guard kind == PageKey.positions(0, 0)[0] else { return nil }
        return PageKey.afterPositions(key[1..<7].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    /// Returns the ranges of keys whose first pages a flush reads for the merges that it continues.
    /// - Parameters:
    ///   - structure: The page at ``structureKey``.
    ///   - fields: The number of fields of the index.
    package static func ranges(ofMerges structure: [UInt8], fields: Int) throws -> [(lower: [UInt8], upper: [UInt8])] {
        var ranges: [(lower: [UInt8], upper: [UInt8])] = []
        for merge in try IndexStructure(structure, fields: fields).merges {
            for (id, page) in zip(merge.inputs, merge.firstPositionPages) {
                let lower = merge.progress.map { PageKey.terms(id, $0) } ?? PageKey.terms(id)
                ranges.append((lower, PageKey.afterTerms(id)))
                ranges.append((PageKey.positions(id, page), PageKey.afterPositions(id)))
            }
            if merge.output.positionPages > 0 {
                let last = merge.output.positionPages - 1
                ranges.append((PageKey.positions(merge.output.id, last), PageKey.positions(merge.output.id, last + 1)))
            }
        }
        return ranges
    }
}
