extension BrowserStore {
    /// Returns the words that can continue a condition: properties, operators, and texts of an attribute that has an index.
    /// - Parameters:
    ///   - text: The condition.
    ///   - offset: The place of the caret, in characters from the beginning.
    ///   - entity: The entity of the objects.
    /// - Throws: `storeNotFound` for an entity that the store does not have, and the errors of the store.
    package func completions(of text: String, at offset: Int, entity: String) async throws -> Completions {
        let tokens = FilterTokens(text, caret: offset)
        let words = try await CompletionFinder(store: self, model: model(entity)).words(tokens)
        return Completions(replaced: tokens.replaced, words: words)
    }
}
