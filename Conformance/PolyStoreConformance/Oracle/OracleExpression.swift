import PolyStoreBackend

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
    /// The scalars that end a line, which a dot does not match. Source: ICU, "Regular Expressions", line terminators.
    private static let lineTerminators: Set<Unicode.Scalar> = ["\n", "\u{b}", "\u{c}", "\r", "\u{85}", "\u{2028}", "\u{2029}"]

    init(_ pattern: String) {
        var remaining = Array(pattern.unicodeScalars)[...]
        node = Self.alternatives(&remaining)
    }

    func matches(_ text: String) -> Bool {
        let scalars = Array(text.unicodeScalars)
        return ends(node, scalars, [0]).contains(scalars.count)
    }

    private static func alternatives(_ remaining: inout ArraySlice<Unicode.Scalar>) -> Node {
        var all = [sequence(&remaining)]
        while remaining.first == "|" {
            remaining.removeFirst()
            all.append(sequence(&remaining))
        }
        return .either(all)
    }

    private static func sequence(_ remaining: inout ArraySlice<Unicode.Scalar>) -> Node {
        var parts: [Node] = []
        while let next = remaining.first, next != "|", next != ")" {
            let part = atom(&remaining)
            switch remaining.first {
            case "*": parts.append(.repeated(part, least: 0, most: .max))
            case "+": parts.append(.repeated(part, least: 1, most: .max))
            case "?": parts.append(.repeated(part, least: 0, most: 1))
            default:
                parts.append(part)
                continue
            }
            remaining.removeFirst()
        }
        return .sequence(parts)
    }

    private static func atom(_ remaining: inout ArraySlice<Unicode.Scalar>) -> Node {
        let first = remaining.removeFirst()
        switch first {
        case ".": return .scalar { !lineTerminators.contains($0) }
        case "(":
            let inner = alternatives(&remaining)
            _ = remaining.popFirst()
            return inner
        case "[":
            let isNegated = remaining.first == "^"
            if isNegated { remaining.removeFirst() }
            var members: Set<Unicode.Scalar> = []
            while let next = remaining.popFirst(), next != "]" { members.insert(next) }
            return .scalar { members.contains($0) != isNegated }
        case "\\":
            let escaped = remaining.popFirst() ?? first
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
                // Only new positions lead to further ones. `subtracting` would visit all that were found, in each turn.
                current = ends(part, text, current).filter { !found.contains($0) }
                if current.isEmpty { break }
                found.formUnion(current)
            }
            return found
        }
    }
}
