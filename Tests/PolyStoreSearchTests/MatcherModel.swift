import PolyStoreSearch
import SeededRandom

/// What a search means, computed from lists of tokens in the simplest way.
struct MatcherModel {
    let search: ResolvedSearch
    /// The terms of each field.
    let fields: [[[UInt8]]]

    init(_ search: ResolvedSearch, _ texts: [String?], _ options: SearchOptions) {
        self.search = search
        fields = texts.map { text in SearchTokenizer(options).tokens(in: text ?? "").map(\.term) }
    }

    var length: Int { fields.reduce(0) { $0 + $1.count } }

    /// The first positions of a phrase in a field.
    func occurrences(_ phrase: Int, _ field: Int) -> [Int] {
        let wanted = search.phrases[phrase]
        guard wanted.fields >> UInt64(field) & 1 == 1 else { return [] }
        return fields[field].indices.filter { start in
            wanted.terms.indices.allSatisfy { index in
                guard start + index < fields[field].count else { return false }
                let term = fields[field][start + index]
                let isPrefix = wanted.isPrefix && index == wanted.terms.count - 1
                return isPrefix ? term.starts(with: wanted.terms[index]) : term == wanted.terms[index]
            }
        }
    }

    /// The occurrences of each phrase of NEAR in a field for which the other phrases have occurrences near it: every combination is tried.
    func near(_ phrases: [Int], _ distance: Int, _ field: Int) -> [Set<Int>] {
        var found = [Set<Int>](repeating: [], count: phrases.count)
        func combine(_ chosen: [Int]) {
            guard chosen.count < phrases.count else {
                let last = chosen.max() ?? 0
                let isNear = phrases.indices.allSatisfy { last - (chosen[$0] + search.phrases[phrases[$0]].terms.count) <= distance }
                if isNear { for index in chosen.indices { found[index].insert(chosen[index]) } }
                return
            }
            for position in occurrences(phrases[chosen.count], field) { combine(chosen + [position]) }
        }
        combine([])
        return found
    }

    func matches(_ node: ResolvedSearch.Node) -> Bool {
        switch node {
        case .nothing: false
        case .phrase(let phrase): fields.indices.contains { !occurrences(phrase, $0).isEmpty }
        case .near(let phrases, let distance): fields.indices.contains { !near(phrases, distance, $0)[0].isEmpty }
        case .and(let parts): parts.allSatisfy(matches)
        case .or(let parts): parts.contains(where: matches)
        case .excluding(let part, let other): matches(part) && !matches(other)
        }
    }

    /// The expected match.
    var match: SearchMatch? {
        guard matches(search.root) else { return nil }
        var counts = search.phrases.map { _ in fields.map { _ in 0 } }
        func count(_ node: ResolvedSearch.Node) {
            switch node {
            case .nothing: break
            case .phrase(let phrase): for field in fields.indices { counts[phrase][field] = occurrences(phrase, field).count }
            case .near(let phrases, let distance):
                for field in fields.indices {
                    let found = near(phrases, distance, field)
                    for (index, phrase) in phrases.enumerated() { counts[phrase][field] = found[index].count }
                }
            case .and(let parts), .or(let parts): parts.forEach(count)
            case .excluding(let part, _): count(part)
            }
        }
        count(search.root)
        return SearchMatch(occurrences: counts, length: length)
    }
}

/// Random queries and texts of few words, so that they often match.
struct SearchGenerator {
    var random: SplitMix64
    let words = ["a", "b", "c", "ab", "abc", "日本", "語", "Running", "runs", "e-mail", "don't", "é", "👍", "ก", "กิน"]

    mutating func text() -> String {
        let separators = [" ", " ", " ", ", ", "-", "", "\n", "\0"]
        return (0..<random.below(14)).map { _ in random.pick(words) + random.pick(separators) }.joined()
    }

    mutating func query(_ depth: Int = 0) -> String {
        switch random.below(depth > 3 ? 6 : 12) {
        case 0...2: random.pick(words)
        case 3: random.pick(words) + "*"
        case 4: "\"" + (0...random.below(2)).map { _ in random.pick(words) }.joined(separator: " ") + "\"" + (random.once(in: 3) ? "*" : "")
        case 5: "NEAR(" + (0...random.below(3)).map { _ in random.pick(words) }.joined(separator: " ") + ", \(random.below(4)))"
        case 6: random.pick(["title:", "body:"]) + random.pick(words)
        case 7: random.pick(["title:", "body:", ""]) + "(" + query(depth + 1) + ")"
        case 8: query(depth + 1) + " OR " + query(depth + 1)
        case 9: query(depth + 1) + " -" + random.pick(words)
        case 10: query(depth + 1) + " -(" + query(depth + 1) + ")"
        default: query(depth + 1) + " " + query(depth + 1)
        }
    }
}
