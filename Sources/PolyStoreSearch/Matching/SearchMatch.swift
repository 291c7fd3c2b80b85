/// The occurrences of a search in one document.
public struct SearchMatch: Sendable, Hashable {
    /// The number of occurrences of each phrase in each field: `occurrences[phrase][field]`. 0 for phrases that do not count for the score.
    ///
    /// A phrase counts wherever it occurs in its fields, also if it is in an alternative that the document does not satisfy. In `NEAR` only occurrences
    /// near the others count. Overlapping occurrences count each.
    public var occurrences: [[Int]]
    /// The number of tokens of the document in all fields.
    public var length: Int

    /// Creates a match.
    public init(occurrences: [[Int]], length: Int) {
        self.occurrences = occurrences
        self.length = length
    }

    /// Returns the score of the document: the sum over the phrases that count, in their order.
    public func score(_ rank: SearchRank, _ search: ResolvedSearch) -> Double {
        var sum = 0.0
        for phrase in occurrences.indices {
            let counts = occurrences[phrase]
            let frequency = rank.frequency { $0 < counts.count ? counts[$0] : 0 }
            if frequency > 0 { sum += rank.part(phrase, frequency: frequency, length: length) }
        }
        return sum
    }
}
