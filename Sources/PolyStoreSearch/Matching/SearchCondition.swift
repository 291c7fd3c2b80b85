/// The condition of a search with the groups of `NEAR` in a list of their own.
struct SearchCondition: Sendable {
    indirect enum Node: Sendable {
        case nothing
        case phrase(Int)
        case near(Int)
        case and([Node])
        case or([Node])
        case excluding(Node, Node)
    }

    struct Near: Sendable {
        var phrases: [Int]
        var distance: Int
    }

    private(set) var root = Node.nothing
    private(set) var nears: [Near] = []
    /// A Boolean value that indicates whether more occurrences cannot end a match.
    private(set) var isMonotone = true

    init(_ node: ResolvedSearch.Node) { root = convert(node) }

    private mutating func convert(_ node: ResolvedSearch.Node) -> Node {
        switch node {
        case .nothing: return .nothing
        case .phrase(let phrase): return .phrase(phrase)
        case .near(let phrases, let distance):
            nears.append(Near(phrases: phrases, distance: max(distance, 0)))
            return .near(nears.count - 1)
        case .and(let parts): return .and(parts.map { convert($0) })
        case .or(let parts): return .or(parts.map { convert($0) })
        case .excluding(let part, let other):
            isMonotone = false
            return .excluding(convert(part), convert(other))
        }
    }

    /// Returns whether a document satisfies the condition.
    func isSatisfied(phrases: [Bool], nears: [Bool]) -> Bool { Self.isSatisfied(root, phrases, nears) }

    private static func isSatisfied(_ node: Node, _ phrases: [Bool], _ nears: [Bool]) -> Bool {
        switch node {
        case .nothing: false
        case .phrase(let phrase): phrases[phrase]
        case .near(let near): nears[near]
        case .and(let parts): parts.allSatisfy { isSatisfied($0, phrases, nears) }
        case .or(let parts): parts.contains { isSatisfied($0, phrases, nears) }
        case .excluding(let part, let other): isSatisfied(part, phrases, nears) && !isSatisfied(other, phrases, nears)
        }
    }
}
