import SeededRandom

/// Random texts and queries of few words, so that phrases occur.
enum SearchTexts {
    private static let words = [
        "w1", "w2", "w3", "w31", "w32", "fox", "Fox", "FOX", "the", "the", "the", "a", "é", "e\u{301}", "naïve", "naive", "straße",
        "strasse", "e-mail", "don't",
        "3.14", "C++", "running", "runs", "日本語", "本語", "京都", "한국", "שלום", "😀", "x\u{0}y", "well-known", "U.S.A.",
    ]
    private static let separators = [" ", " ", " ", " ", ", ", ". ", "\n", " — ", "\t", "/", "\u{0}"]

    static let queries = [
        "w1", "w2 w3", "\"w1 w2\"", "w3*", "fox", "fox the", "the -fox", "NEAR(w1 fox, 2)", "title:the", "title:w1 OR body:fox",
        "naive OR strasse", "本",
        "\"the the\"", "body:(w1 OR w2) -title:the", "w1 OR w2 OR w3 OR fox",
    ]

    static func text(_ random: inout SplitMix64, words count: Int) -> String {
        var text = ""
        for index in 0..<count { text += (index == 0 ? "" : random.pick(separators)) + word(&random) }
        return text
    }

    private static func word(_ random: inout SplitMix64) -> String { random.once(in: 3) ? random.pick(words) : "w\(1 + random.below(3))" }

    /// Draws a query without mistakes.
    static func query(_ random: inout SplitMix64, fields: [String] = ["title", "body"], depth: Int = 2) -> String {
        switch random.below(depth > 0 ? 14 : 7) {
        case 0...3: return operand(&random)
        case 4: return "\"" + operandWord(&random) + " " + operandWord(&random) + "\"" + (random.once(in: 3) ? "*" : "")
        case 5: return operandWord(&random) + "*"
        case 6: return random.once(in: 3) ? near(&random) : operand(&random)
        case 7: return near(&random)
        case 8:
            let inner = random.once(in: 2) ? operand(&random) : "(" + plain(&random, depth: depth - 1) + ")"
            return fields.isEmpty ? operand(&random) : random.pick(fields) + ":" + inner
        case 9, 10: return parts(&random, fields, depth).joined(separator: random.once(in: 4) ? " AND " : " ")
        case 11: return parts(&random, fields, depth).joined(separator: " OR ")
        case 12:
            return "(" + query(&random, fields: fields, depth: depth - 1) + ") -(" + query(&random, fields: fields, depth: depth - 1) + ")"
        default: return operand(&random) + " -" + operand(&random)
        }
    }

    /// Draws a query without names of fields.
    private static func plain(_ random: inout SplitMix64, depth: Int) -> String { query(&random, fields: [], depth: depth) }

    private static func parts(_ random: inout SplitMix64, _ fields: [String], _ depth: Int) -> [String] {
        var parts: [String] = []
        for _ in 0..<2 + random.below(2) { parts.append("(" + query(&random, fields: fields, depth: depth - 1) + ")") }
        return parts
    }

    private static func operand(_ random: inout SplitMix64) -> String {
        random.once(in: 4) ? "\"" + text(&random, words: 1 + random.below(3)) + "\"" : operandWord(&random)
    }

    /// Draws a word that contains no operator.
    private static func operandWord(_ random: inout SplitMix64) -> String { word(&random).replacing("\u{0}", with: "") }

    private static func near(_ random: inout SplitMix64) -> String {
        var operands: [String] = []
        for _ in 0..<1 + random.below(3) {
            operands.append(random.once(in: 4) ? "\"" + operandWord(&random) + " " + operandWord(&random) + "\"" : operandWord(&random))
        }
        let distance = random.once(in: 4) ? "" : ", \(random.below(6))"
        return "NEAR(" + operands.joined(separator: " ") + distance + ")"
    }
}
