import PolyStoreBackend

extension EntityMatch {
    /// Descriptions of the indexes that are added and removed.
    var indexChanges: [String] {
        changes(source.description.indexes, target.description.indexes) { index in
            "\(index.isUnique ? "uniqueness of" : "an index on") \(index.parts.map(\.path).joined(separator: ", "))"
        }
            + changes(source.description.searchIndexes, target.description.searchIndexes) { index in
                "a full-text index on \(index.fields.joined(separator: ", "))"
            }
    }

    private func changes<Index: Hashable>(_ before: [Index], _ after: [Index], _ text: (Index) -> String) -> [String] {
        let (old, new) = (Set(before), Set(after))
        return after.filter { !old.contains($0) }.map { "\(target.name): \(text($0)) is added" }
            + before.filter { !new.contains($0) }.map { "\(target.name): \(text($0)) is removed" }
    }
}
