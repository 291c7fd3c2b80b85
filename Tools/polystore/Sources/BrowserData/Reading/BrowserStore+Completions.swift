import PolyStoreBackend

extension BrowserStore {
    /// Returns the words that can continue a condition: properties, operators, and the values of an attribute that an index lists.
    /// - Parameters:
    ///   - text: The condition.
    ///   - offset: The place of the caret, in characters from the beginning.
    ///   - entity: The entity of the objects.
    package func completions(of text: String, at offset: Int, entity: String) async throws -> Completions {
        Completions(replaced: offset..<offset, words: [])
    }
}
