/// How positions of terms become occurrences of phrases, and which of these are near each other.
public enum SearchPositions {
    /// Returns the positions at which terms follow one another.
    /// - Parameter terms: For each term of the phrase its positions in one field, ascending.
    /// - Returns: The positions of the first term, ascending. Occurrences may overlap.
    public static func phrase(_ terms: [[Int]]) -> [Int] {
        guard var found = terms.first else { return [] }
        for (distance, positions) in terms.enumerated().dropFirst() {
            if found.isEmpty { break }
            var index = 0
            found.removeAll { start in
                while index < positions.count, positions[index] < start + distance { index += 1 }
                return index == positions.count || positions[index] != start + distance
            }
        }
        return found
    }

    /// Returns the occurrences of phrases that are near each other, as FTS5's `NEAR` defines it.
    ///
    /// Occurrences, one of each phrase, are near each other if between the end of each of them and the start of the last one are at most `distance` tokens.
    /// - Parameters:
    ///   - phrases: The positions of each phrase in one field, ascending.
    ///   - lengths: The number of terms of each phrase.
    ///   - distance: The maximum number of tokens between them.
    /// - Returns: For each phrase the occurrences that take part; nil if there are none.
    public static func near(_ phrases: [[Int]], lengths: [Int], distance: Int) -> [[Int]]? {
        guard !phrases.isEmpty, phrases.allSatisfy({ !$0.isEmpty }) else { return nil }
        let distance = max(0, min(distance, 1 << 40))
        var at = [Int](repeating: 0, count: phrases.count)
        var found = [[Int]](repeating: [], count: phrases.count)
        while true {
            guard align(&at, phrases, lengths, distance) else { break }
            for phrase in phrases.indices where found[phrase].last != phrases[phrase][at[phrase]] {
                found[phrase].append(phrases[phrase][at[phrase]])
            }
            // The phrase whose next occurrence is the first advances.
            var first = -1
            for phrase in phrases.indices where at[phrase] + 1 < phrases[phrase].count {
                if first < 0 || phrases[phrase][at[phrase] + 1] < phrases[first][at[first] + 1] { first = phrase }
            }
            if first < 0 { break }
            at[first] += 1
        }
        return found[0].isEmpty ? nil : found
    }

    /// Advances phrases until their occurrences are near each other. Returns false if one of them has no further occurrence.
    private static func align(_ at: inout [Int], _ phrases: [[Int]], _ lengths: [Int], _ distance: Int) -> Bool {
        var last = phrases.indices.reduce(0) { max($0, phrases[$1][at[$1]]) }
        var isAligned = false
        while !isAligned {
            isAligned = true
            for phrase in phrases.indices {
                let lowest = last - lengths[phrase] - distance
                while phrases[phrase][at[phrase]] < lowest {
                    isAligned = false
                    at[phrase] += 1
                    if at[phrase] == phrases[phrase].count { return false }
                }
                if phrases[phrase][at[phrase]] > last {
                    last = phrases[phrase][at[phrase]]
                    isAligned = false
                }
            }
        }
        return true
    }
}
