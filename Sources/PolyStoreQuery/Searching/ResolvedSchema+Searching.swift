import PolyStoreBackend

extension ResolvedSchema {
    /// Returns whether a stored schema declares the full-text indexes with other names or weights, which its hash does not contain.
    /// - Parameter stored: Decodes the stored schema. Called only if this schema has full-text indexes.
    package func hasOtherSearchNames(than stored: () throws -> SchemaDescription) rethrows -> Bool {
        guard entities.contains(where: { !$0.searchIndexes.isEmpty }) else { return false }
        let before = Dictionary(try stored().entities.map { ($0.name, $0.searchIndexes) }, uniquingKeysWith: { first, _ in first })
        return description.entities.contains { before[$0.name] ?? [] != $0.searchIndexes }
    }
}
