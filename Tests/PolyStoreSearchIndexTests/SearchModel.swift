import PolyStoreSearch
import SeededRandom

/// What a search index must say, computed from the texts: arrays of tokens, searched one by one.
struct SearchModel {
    let fields: Int
    var documents: [Int64: [String?]] = [:]

    private static let tokenizer = SearchTokenizer()

    private func tokens(_ texts: [String?]) -> [[[UInt8]]] {
        texts.map { $0.map { Self.tokenizer.tokens(in: $0).map(\.term) } ?? [] }
    }

    private func positions(_ phrase: ResolvedSearch.Phrase, _ field: Int, _ tokens: [[UInt8]]) -> [Int] {
        guard phrase.fields >> UInt64(field) & 1 != 0, !phrase.terms.isEmpty, tokens.count >= phrase.terms.count else { return [] }
        return (0...tokens.count - phrase.terms.count).filter { start in
            phrase.terms.indices.allSatisfy { index in
                phrase.isPrefix && index == phrase.terms.count - 1
                    ? tokens[start + index].starts(with: phrase.terms[index]) : tokens[start + index] == phrase.terms[index]
            }
        }
    }

    private func near(_ phrases: [Int], _ distance: Int, _ search: ResolvedSearch, _ field: Int, _ tokens: [[UInt8]]) -> [[Int]]? {
        SearchPositions.near(
            phrases.map { positions(search.phrases[$0], field, tokens) }, lengths: phrases.map { search.phrases[$0].terms.count },
            distance: distance
        )
    }

    private func satisfies(_ node: ResolvedSearch.Node, _ search: ResolvedSearch, _ tokens: [[[UInt8]]]) -> Bool {
        switch node {
        case .nothing: false
        case .phrase(let index): tokens.indices.contains { !positions(search.phrases[index], $0, tokens[$0]).isEmpty }
        case .near(let phrases, let distance): tokens.indices.contains { near(phrases, distance, search, $0, tokens[$0]) != nil }
        case .and(let parts): !parts.isEmpty && parts.allSatisfy { satisfies($0, search, tokens) }
        case .or(let parts): parts.contains { satisfies($0, search, tokens) }
        case .excluding(let part, let other): satisfies(part, search, tokens) && !satisfies(other, search, tokens)
        }
    }

    /// The groups of phrases near each other that count for the score.
    private func nears(_ node: ResolvedSearch.Node) -> [(phrases: [Int], distance: Int)] {
        switch node {
        case .nothing, .phrase: []
        case .near(let phrases, let distance): [(phrases, distance)]
        case .and(let parts), .or(let parts): parts.flatMap(nears)
        case .excluding(let part, _): nears(part)
        }
    }

    func statistics(_ search: ResolvedSearch) -> SearchStatistics {
        let all = documents.values.map(tokens)
        var frequencies = [Int](repeating: 0, count: search.phrases.count)
        for index in search.ranked {
            frequencies[index] =
                all.filter { tokens in
                    tokens.indices.contains { !positions(search.phrases[index], $0, tokens[$0]).isEmpty }
                }.count
        }
        let count = all.reduce(0) { $0 + $1.reduce(0) { $0 + $1.count } }
        return SearchStatistics(documents: documents.count, tokens: count, frequencies: frequencies)
    }

    /// The documents that a search finds and their scores, ascending.
    func all(_ search: ResolvedSearch, weights: [Double]) -> [(document: Int64, score: Double)] {
        let rank = SearchRank(statistics(search), weights: weights)
        return documents.sorted { $0.key < $1.key }.compactMap { document, texts in
            let tokens = tokens(texts)
            guard satisfies(search.root, search, tokens) else { return nil }
            return (document, score(search, rank, tokens))
        }
    }

    private func score(_ search: ResolvedSearch, _ rank: SearchRank, _ tokens: [[[UInt8]]]) -> Double {
        var counts = search.phrases.map { phrase in tokens.indices.map { positions(phrase, $0, tokens[$0]).count } }
        for (phrases, distance) in nears(search.root) {
            for field in tokens.indices {
                let found = near(phrases, distance, search, field, tokens[field])
                for (place, phrase) in phrases.enumerated() { counts[phrase][field] = found?[place].count ?? 0 }
            }
        }
        let length = tokens.reduce(0) { $0 + $1.count }
        var sum = 0.0
        for index in search.ranked {
            let frequency = rank.frequency { counts[index][$0] }
            if frequency > 0 { sum += rank.part(index, frequency: frequency, length: length) }
        }
        return sum
    }
}

/// Random texts and searches of few words, so that most searches find something.
struct SearchSamples {
    var random: SplitMix64
    let fields: Int
    let words: [String]

    init(seed: UInt64, fields: Int) {
        random = SplitMix64(seed: seed)
        self.fields = fields
        words = ["a", "b", "c", "ab", "abc", "abd", "zebra", "zeta", "z", "the", "of", "ο", "straße", "x1", "x2", "x3", "x4", "x5", "x6"]
    }

    /// A word; the first ones are the most frequent.
    mutating func word() -> String { words[min(random.below(words.count), random.below(words.count))] }

    mutating func text() -> String? {
        if random.once(in: 6) { return random.once(in: 2) ? nil : "" }
        return (0..<random.below(random.once(in: 10) ? 60 : 8)).map { _ in word() }.joined(separator: " ")
    }

    mutating func texts() -> [String?] { (0..<fields).map { field in field > 2 && !random.once(in: 8) ? nil : text() } }

    mutating func document() -> Int64 {
        switch random.below(12) {
        case 0: random.pick([.min, .min + 1, .max, .max - 1, 0, -1, 255, 256, -256])
        case 1: Int64(random.below(1 << 40)) - 1 << 39
        default: Int64(random.below(30)) - 4
        }
    }

    mutating func weights() -> [Double] {
        switch random.below(5) {
        case 0: [Double](repeating: 0, count: fields)
        case 1: (0..<fields).map { 1 - Double($0) }
        case 2: (0..<fields).map { Double($0) * 0.7 + 0.1 }
        default: [Double](repeating: 1, count: fields)
        }
    }

    mutating func phrase() -> ResolvedSearch.Phrase {
        let count = random.once(in: 3) ? 1 + random.below(3) : 1
        let isPrefix = random.once(in: 4)
        var terms = (0..<count).map { _ in Array(word().utf8) }
        if isPrefix { terms[count - 1] = Array(terms[count - 1].prefix(1 + random.below(3))) }
        if random.once(in: 30) { terms[0] = Array("unknown".utf8) }
        return ResolvedSearch.Phrase(terms: terms, isPrefix: isPrefix, fields: random.once(in: 4) ? random.next() : .max)
    }

    mutating func search() -> ResolvedSearch {
        var search = ResolvedSearch(phrases: [], root: .nothing)
        search.root = node(depth: random.below(3), &search)
        return search
    }

    private mutating func add(_ search: inout ResolvedSearch) -> Int {
        search.phrases.append(phrase())
        return search.phrases.count - 1
    }

    private mutating func node(depth: Int, _ search: inout ResolvedSearch) -> ResolvedSearch.Node {
        if depth == 0 || random.once(in: 5) {
            if random.once(in: 6) { return .near((0..<2 + random.below(2)).map { _ in add(&search) }, distance: random.below(6)) }
            return random.once(in: 40) ? .nothing : .phrase(add(&search))
        }
        switch random.below(5) {
        case 0, 1: return .and((0..<1 + random.below(3)).map { _ in node(depth: depth - 1, &search) })
        case 2, 3: return .or((0..<1 + random.below(3)).map { _ in node(depth: depth - 1, &search) })
        default: return .excluding(node(depth: depth - 1, &search), node(depth: depth - 1, &search))
        }
    }
}
