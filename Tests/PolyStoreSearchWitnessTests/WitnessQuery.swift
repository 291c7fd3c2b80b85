import SeededRandom

/// A query that PolyStore and FTS5 can both say.
indirect enum WitnessQuery {
    case word(String)
    case prefix(String)
    case phrase([String], isPrefix: Bool)
    case near([[String]], Int)
    case field(String, WitnessQuery)
    case all([WitnessQuery])
    case any([WitnessQuery])
    case excluding(WitnessQuery, WitnessQuery)

    private static let words = (1...12).map { "w\($0)" }

    /// Draws a word; the first ones are frequent.
    static func word(_ random: inout SplitMix64) -> String { words[random.below(1 + random.below(words.count))] }

    /// Draws a query whose alternatives are words and phrases. Of an alternative with several words or with `NEAR` that a row does not satisfy, FTS5 counts those
    /// words that its cursors happen to have reached, so that its scores depend on the plan.
    static func ranked(_ random: inout SplitMix64, _ fields: [String]) -> WitnessQuery {
        let parts = (0..<1 + random.below(3)).map { _ in
            let count = 1 + random.below(3)
            let options = (0..<count).map { _ in operand(&random, fields, mayBeNear: count == 1) }
            return options.count == 1 ? options[0] : WitnessQuery.any(options)
        }
        let query = parts.count == 1 ? parts[0] : .all(parts)
        return random.once(in: 4) ? .excluding(query, operand(&random, fields)) : query
    }

    /// Draws a query of any form.
    static func any(_ random: inout SplitMix64, _ fields: [String], depth: Int = 3) -> WitnessQuery {
        if depth == 0 || random.once(in: 3) { return operand(&random, fields) }
        let (first, second) = (any(&random, fields, depth: depth - 1), any(&random, fields, depth: depth - 1))
        return random.pick([.all([first, second]), .any([first, second]), .excluding(first, second)])
    }

    private static func operand(_ random: inout SplitMix64, _ fields: [String], mayBeNear: Bool = true) -> WitnessQuery {
        var query: WitnessQuery
        switch random.below(7) {
        case 0: query = .prefix(String(word(&random).prefix(1 + random.below(3))))
        case 1, 2: query = .phrase((0..<2 + random.below(2)).map { _ in word(&random) }, isPrefix: random.once(in: 3))
        case 3 where mayBeNear:
            let members = (0..<2 + random.below(2)).map { _ in (0..<(random.once(in: 4) ? 2 : 1)).map { _ in word(&random) } }
            query = .near(members, random.below(5))
        default: query = .word(word(&random))
        }
        if random.once(in: 3) { query = .field(random.pick(fields), query) }
        return query
    }

    /// The query in the language of PolyStore.
    var text: String {
        switch self {
        case .word(let word): word
        case .prefix(let word): word + "*"
        case .phrase(let words, let isPrefix): "\"\(words.joined(separator: " "))\"\(isPrefix ? "*" : "")"
        case .near(let members, let distance):
            "NEAR(\(members.map { "\"\($0.joined(separator: " "))\"" }.joined(separator: " ")), \(distance))"
        case .field(let name, let query): "\(name):\(query.text)"
        case .all(let parts): "(" + parts.map(\.text).joined(separator: " ") + ")"
        case .any(let parts): "(" + parts.map(\.text).joined(separator: " OR ") + ")"
        case .excluding(let part, let other): "(\(part.text) -\(other.text))"
        }
    }

    /// The query in the language of FTS5.
    var fts5: String {
        switch self {
        case .word(let word): "\"\(word)\""
        case .prefix(let word): "\"\(word)\"*"
        case .phrase(let words, let isPrefix): "\"\(words.joined(separator: " "))\"\(isPrefix ? "*" : "")"
        case .near(let members, let distance):
            "NEAR(\(members.map { "\"\($0.joined(separator: " "))\"" }.joined(separator: " ")), \(distance))"
        case .field(let name, let query): "\(name) : \(query.fts5)"
        case .all(let parts): "(" + parts.map(\.fts5).joined(separator: " AND ") + ")"
        case .any(let parts): "(" + parts.map(\.fts5).joined(separator: " OR ") + ")"
        case .excluding(let part, let other): "(\(part.fts5) NOT \(other.fts5))"
        }
    }
}
