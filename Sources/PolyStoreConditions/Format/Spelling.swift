import PolyStoreBackend

/// Spelling suggestions for error messages.
enum Spelling {
    /// Returns the candidate with the smallest edit distance to a word, ignoring case: at most one edit, or two for long words. An edit is an
    /// insertion, a deletion, a substitution or a transposition. The first of several equally close candidates is returned.
    static func nearest(_ word: String, among candidates: [String]) -> String? {
        let letters = Array(word.uppercased().utf8)
        let limit = letters.count <= 4 ? 1 : 2
        var best: (candidate: String, distance: Int)?
        for candidate in candidates {
            let other = Array(candidate.uppercased().utf8)
            guard abs(other.count - letters.count) <= limit else { continue }
            let distance = distance(letters, other)
            if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        return best?.candidate
    }

    /// Returns the optimal string alignment distance. Only the last three rows of its table are kept.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for i in left.indices {
            var row = [i + 1]
            for j in right.indices {
                var cost = min(row[j] + 1, last[j + 1] + 1, last[j] + (left[i] == right[j] ? 0 : 1))
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] { cost = min(cost, beforeLast[j - 1] + 1) }
                row.append(cost)
            }
            beforeLast = last
            last = row
        }
        return last[right.count]
    }
}
