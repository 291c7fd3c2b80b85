/// Where the phrases of a query occur in one document.
struct SearchModelOccurrences {
    /// The number of occurrences of each counted phrase in each field.
    private(set) var counts: [[Int]]
    /// A Boolean value that indicates whether the document satisfies the query.
    private(set) var isFound = false
    private let document: [[[UInt8]]?]

    /// - Parameter document: The terms of each field; nil for null.
    init(_ query: SearchModelQuery, _ document: [[[UInt8]]?]) {
        self.document = document
        counts = query.phrases.map { phrase in
            document.indices.map { phrase.positions(in: document[$0] ?? [], field: $0).count }
        }
        isFound = query.root.map { holds($0) } ?? false
    }

    private mutating func holds(_ node: SearchModelQuery.Node) -> Bool {
        // Every part is evaluated, because each `NEAR` counts its occurrences.
        switch node {
        case .phrase(let phrase, _):
            return document.indices.contains { !phrase.positions(in: document[$0] ?? [], field: $0).isEmpty }
        case .near(let members, _) where members.count == 1:
            return holds(.phrase(members[0].phrase, counted: members[0].counted))
        case .near(let members, let distance):
            var isNear = false
            for field in document.indices {
                let near = near(members.map(\.phrase), distance, field)
                for (member, positions) in zip(members, near) {
                    if let counted = member.counted { counts[counted][field] = positions.count }
                }
                if near.contains(where: { !$0.isEmpty }) { isNear = true }
            }
            return isNear
        case .not(let part): return !holds(part)
        case .any(let parts): return parts.map { holds($0) }.contains(true)
        case .all(let parts):
            let wanted = parts.filter { if case .not = $0 { false } else { true } }
            // A group that only excludes finds nothing.
            return parts.map { holds($0) }.allSatisfy { $0 } && !wanted.isEmpty
        }
    }

    /// Returns the occurrences of each phrase that are near occurrences of all others in a field: between the end of each and the start of the last one
    /// are at most `distance` terms.
    private func near(_ phrases: [SearchModelQuery.Phrase], _ distance: Int, _ field: Int) -> [Set<Int>] {
        let positions = phrases.map { $0.positions(in: document[field] ?? [], field: field) }
        var near = phrases.map { _ in Set<Int>() }
        for last in positions.joined() {
            let within = zip(phrases, positions).map { phrase, positions in
                positions.filter { $0 <= last && last - ($0 + phrase.terms.count) <= distance }
            }
            if within.contains(where: { $0.isEmpty }) { continue }
            for (index, positions) in within.enumerated() { near[index].formUnion(positions) }
        }
        return near
    }
}
