import PolyStoreBackend

/// The semantics of patterns and folding, for the few scalars that the oracle draws.
enum OracleText {
    // MARK: LIKE

    /// Matches `?`, `*` and backslash by the set of all positions of the pattern that are reachable after each scalar of the text.
    static func isLike(_ text: String, _ pattern: String) -> Bool {
        var wanted: [(scalar: Unicode.Scalar?, isMany: Bool)] = []
        var rest = Array(pattern.unicodeScalars)[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case "*": wanted.append((nil, true))
            case "?": wanted.append((nil, false))
            case "\\": wanted.append((rest.popFirst() ?? scalar, false))
            default: wanted.append((scalar, false))
            }
        }
        /// Adds the positions after stars, which may match nothing.
        func reached(_ places: Set<Int>) -> Set<Int> {
            var all = places
            for var place in places {
                while place < wanted.count, wanted[place].isMany {
                    place += 1
                    all.insert(place)
                }
            }
            return all
        }
        var places = reached([0])
        for scalar in text.unicodeScalars {
            var next: Set<Int> = []
            for place in places where place < wanted.count {
                if wanted[place].isMany {
                    next.insert(place)
                } else if wanted[place].scalar.map({ $0 == scalar }) ?? true {
                    next.insert(place + 1)
                }
            }
            if next.isEmpty { return false }
            places = reached(next)
        }
        return places.contains(wanted.count)
    }

    // MARK: Folding

    static func folded(_ text: String, _ options: TextOptions) -> String {
        let (ignoresCase, ignoresMarks) = (options.contains(.caseInsensitive), options.contains(.diacriticInsensitive))
        var result = String.UnicodeScalarView()
        for (position, scalar) in text.unicodeScalars.enumerated() {
            // A mark belongs to the preceding scalar.
            if ignoresMarks, scalar == "\u{301}", position > 0 { continue }
            var folded = String(scalar)
            if ignoresMarks { folded = ["é": "e", "É": "E", "İ": "I"][folded] ?? folded }
            if ignoresCase {
                let lower = ["É": "é", "İ": "i\u{307}", "Σ": "σ", "ς": "σ", "ß": "ss"][folded]
                folded = lower ?? (scalar.isASCII || folded.utf8.count == 1 ? folded.lowercased() : folded)
            }
            result.append(contentsOf: folded.unicodeScalars)
        }
        return String(result)
    }
}

/// A regular expression of the few kinds that the oracle draws: scalars, `.`, `[ab]`, `[^ab]`, `*`, `+`, `?`, `|`, parentheses, backslash.
///
/// Computes, for every position at which a match begins, all positions at which it may end.
struct OracleExpression {
    private indirect enum Node {
        case scalar((Unicode.Scalar) -> Bool)
        case sequence([Node])
        case either([Node])
        case repeated(Node, least: Int, most: Int)
    }

    private let node: Node

    init(_ pattern: String) {
        var rest = Array(pattern.unicodeScalars)[...]
        node = Self.alternatives(&rest)
    }

    func matches(_ text: String) -> Bool {
        let scalars = Array(text.unicodeScalars)
        return ends(node, scalars, [0]).contains(scalars.count)
    }

    private static func alternatives(_ rest: inout ArraySlice<Unicode.Scalar>) -> Node {
        var all = [sequence(&rest)]
        while rest.first == "|" {
            rest.removeFirst()
            all.append(sequence(&rest))
        }
        return .either(all)
    }

    private static func sequence(_ rest: inout ArraySlice<Unicode.Scalar>) -> Node {
        var parts: [Node] = []
        while let next = rest.first, next != "|", next != ")" {
            let part = atom(&rest)
            switch rest.first {
            case "*": parts.append(.repeated(part, least: 0, most: .max))
            case "+": parts.append(.repeated(part, least: 1, most: .max))
            case "?": parts.append(.repeated(part, least: 0, most: 1))
            default:
                parts.append(part)
                continue
            }
            rest.removeFirst()
        }
        return .sequence(parts)
    }

    private static func atom(_ rest: inout ArraySlice<Unicode.Scalar>) -> Node {
        let first = rest.removeFirst()
        switch first {
        case ".": return .scalar { $0 != "\n" }
        case "(":
            let inner = alternatives(&rest)
            _ = rest.popFirst()
            return inner
        case "[":
            let isNegated = rest.first == "^"
            if isNegated { rest.removeFirst() }
            var members: Set<Unicode.Scalar> = []
            while let next = rest.popFirst(), next != "]" { members.insert(next) }
            return .scalar { members.contains($0) != isNegated }
        case "\\":
            let escaped = rest.popFirst() ?? first
            return .scalar { $0 == escaped }
        default: return .scalar { $0 == first }
        }
    }

    private func ends(_ node: Node, _ text: [Unicode.Scalar], _ starts: Set<Int>) -> Set<Int> {
        switch node {
        case .scalar(let accepts): return Set(starts.filter { $0 < text.count && accepts(text[$0]) }.map { $0 + 1 })
        case .sequence(let parts): return parts.reduce(starts) { ends($1, text, $0) }
        case .either(let parts): return parts.reduce([]) { $0.union(ends($1, text, starts)) }
        case .repeated(let part, let least, let most):
            var found: Set<Int> = least == 0 ? starts : []
            var current = starts
            for _ in 0..<most {
                // Only new positions lead to further ones.
                current = ends(part, text, current).subtracting(found)
                if current.isEmpty { break }
                found.formUnion(current)
            }
            return found
        }
    }
}
