import PolyStoreBackend

/// The semantics of patterns and folding, for the few scalars that the oracle draws.
enum OracleText {
    // MARK: LIKE

    /// Matches `?`, `*` and backslash by the set of all positions of the pattern that are reachable after each scalar of the text.
    static func isLike(_ text: String, _ pattern: String) -> Bool {
        var wanted: [(scalar: Unicode.Scalar?, isMany: Bool)] = []
        var remaining = Array(pattern.unicodeScalars)[...]
        while let scalar = remaining.popFirst() {
            switch scalar {
            case "*": wanted.append((nil, true))
            case "?": wanted.append((nil, false))
            case "\\": wanted.append((remaining.popFirst() ?? scalar, false))
            default: wanted.append((scalar, false))
            }
        }
        /// Adds the positions after stars, which may match nothing.
        func reached(_ positions: Set<Int>) -> Set<Int> {
            var all = positions
            for var index in positions {
                while index < wanted.count, wanted[index].isMany {
                    index += 1
                    all.insert(index)
                }
            }
            return all
        }
        var positions = reached([0])
        for scalar in text.unicodeScalars {
            var next: Set<Int> = []
            for index in positions where index < wanted.count {
                if wanted[index].isMany {
                    next.insert(index)
                } else if wanted[index].scalar.map({ $0 == scalar }) ?? true {
                    next.insert(index + 1)
                }
            }
            if next.isEmpty { return false }
            positions = reached(next)
        }
        return positions.contains(wanted.count)
    }

    // MARK: Folding

    static func folded(_ text: String, _ options: TextOptions) -> String {
        let (ignoresCase, ignoresMarks) = (options.contains(.caseInsensitive), options.contains(.diacriticInsensitive))
        var result = String.UnicodeScalarView()
        for (position, scalar) in text.unicodeScalars.enumerated() {
            // A mark belongs to the preceding scalar.
            if ignoresMarks, ["\u{301}", "\u{307}"].contains(scalar), position > 0 { continue }
            var folded = String(scalar)
            if ignoresMarks { folded = ["é": "e", "É": "E", "İ": "I", "ï": "i"][folded] ?? folded }
            if ignoresCase {
                let lower = ["É": "é", "İ": "i\u{307}", "Σ": "σ", "ς": "σ", "ß": "ss"][folded]
                folded = lower ?? (scalar.isASCII || folded.utf8.count == 1 ? folded.lowercased() : folded)
            }
            result.append(contentsOf: folded.unicodeScalars)
        }
        return String(result)
    }
}
