import PolyStoreBackend

/// The texts of the statements that write the rows of a table, by kind and by the fields that they set.
final class WriteTexts: Sendable {
    struct Key: Hashable {
        let kind: ChangeSet.Kind
        let mask: FieldMask
    }

    private let texts = Protected<[Key: String]>([:])
    /// The number of texts after which all are forgotten.
    private static let most = 100

    /// Returns a text, which a closure makes the first time.
    func text(_ key: Key, _ make: () -> String) -> String {
        if let known = texts.withLock({ $0[key] }) { return known }
        let text = make()
        texts.withLock { texts in
            if texts.count >= Self.most { texts = [:] }
            texts[key] = text
        }
        return text
    }
}
