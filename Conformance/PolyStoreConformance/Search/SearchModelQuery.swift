import PolyStoreSearch

/// A query as the model reads it. Queries are written without mistakes; what a user's mistakes mean is tested elsewhere.
struct SearchModelQuery {
    indirect enum Node {
        /// A phrase, by its index in ``phrases`` or among those that do not count for the score.
        case phrase(Phrase, counted: Int?)
        case near([(phrase: Phrase, counted: Int?)], distance: Int)
        case not(Node)
        case all([Node])
        case any([Node])
    }

    /// Terms that follow one another.
    struct Phrase {
        let terms: [[UInt8]]
        let isPrefix: Bool
        /// The fields in which it is searched.
        let fields: Set<Int>

        /// Returns the positions in a field at which the phrase begins.
        func positions(in text: [[UInt8]], field: Int) -> [Int] {
            guard fields.contains(field), text.count >= terms.count else { return [] }
            return (0...text.count - terms.count).filter { start in
                terms.indices.allSatisfy { index in
                    let isPrefix = isPrefix && index == terms.count - 1
                    return isPrefix ? text[start + index].starts(with: terms[index]) : text[start + index] == terms[index]
                }
            }
        }
    }

    /// The condition; nil for a query without words.
    private(set) var root: Node?
    /// The phrases that count for the score, in the order of the query.
    private(set) var phrases: [Phrase] = []
    private var remaining: ArraySlice<Unicode.Scalar>
    private let fields: [String]
    private let options: SearchOptions

    init(_ text: String, fields: [String], options: SearchOptions) {
        remaining = Array(text.unicodeScalars)[...]
        self.fields = fields
        self.options = options
        root = any(Context(fields: Set(fields.indices), isCounted: true))
    }

    /// Where a part of the query stands.
    private struct Context {
        var fields: Set<Int>
        var isCounted: Bool
    }

    private mutating func any(_ context: Context) -> Node? {
        var parts: [Node] = []
        while true {
            if let part = all(context) { parts.append(part) }
            guard take("OR") else { break }
        }
        return parts.isEmpty ? nil : .any(parts)
    }

    private mutating func all(_ context: Context) -> Node? {
        var parts: [Node] = []
        while true {
            skipSpaces()
            if remaining.isEmpty || remaining.first == ")" || starts(with: "OR") { break }
            if take("AND") { continue }
            if let part = part(context) { parts.append(part) }
        }
        return parts.isEmpty ? nil : .all(parts)
    }

    private mutating func part(_ context: Context) -> Node? {
        if remaining.first == "-" {
            remaining.removeFirst()
            return part(Context(fields: context.fields, isCounted: false)).map { .not($0) }
        }
        if remaining.first == "(" {
            remaining.removeFirst()
            let inner = any(context)
            remaining.removeFirst()
            return inner
        }
        if remaining.first == "\"" { return operand(context).map { .phrase($0.phrase, counted: $0.counted) } }
        for (index, name) in fields.enumerated() where remaining.starts(with: Array((name + ":").unicodeScalars)) {
            remaining.removeFirst(name.unicodeScalars.count + 1)
            return part(Context(fields: context.fields.intersection([index]), isCounted: context.isCounted))
        }
        if remaining.starts(with: Array("NEAR(".unicodeScalars)) { return near(context) }
        return operand(context).map { .phrase($0.phrase, counted: $0.counted) }
    }

    private mutating func near(_ context: Context) -> Node? {
        remaining.removeFirst(5)
        var operands: [(phrase: Phrase, counted: Int?)] = []
        var distance = 10
        while true {
            skipSpaces()
            guard let next = remaining.first, next != ")" else { break }
            if next == "," {
                remaining.removeFirst()
                skipSpaces()
                distance = 0
                while let digit = remaining.first, let value = Int(String(digit)) {
                    distance = distance * 10 + value
                    remaining.removeFirst()
                }
                continue
            }
            if let operand = operand(context) { operands.append(operand) }
        }
        remaining.removeFirst()
        return operands.isEmpty ? nil : .near(operands, distance: distance)
    }

    /// Reads a word or a quoted text; nil if it has no terms.
    private mutating func operand(_ context: Context) -> (phrase: Phrase, counted: Int?)? {
        var text = String.UnicodeScalarView()
        if remaining.first == "\"" {
            remaining.removeFirst()
            while let next = remaining.popFirst(), next != "\"" { text.append(next) }
        } else {
            while let next = remaining.first, !" ()\",*".unicodeScalars.contains(next) {
                text.append(next)
                remaining.removeFirst()
            }
        }
        var isPrefix = false
        if remaining.first == "*" {
            remaining.removeFirst()
            isPrefix = true
        }
        // How a text is divided into terms, and whether its last character is the beginning of a longer term, is the matter of the tokenizer.
        let resolved = try? Search("\"\(String(text))\"\(isPrefix ? "*" : "")").resolved(fields: ["text"], options: options)
        guard let divided = resolved?.phrases.first else { return nil }
        let phrase = Phrase(terms: divided.terms, isPrefix: divided.isPrefix, fields: context.fields)
        guard context.isCounted else { return (phrase, nil) }
        phrases.append(phrase)
        return (phrase, phrases.count - 1)
    }

    // MARK: Characters

    private mutating func skipSpaces() { while remaining.first == " " { remaining.removeFirst() } }

    private func starts(with word: String) -> Bool {
        let scalars = Array(word.unicodeScalars)
        guard remaining.starts(with: scalars) else { return false }
        return remaining.dropFirst(scalars.count).first.map { $0 == " " } ?? true
    }

    private mutating func take(_ word: String) -> Bool {
        guard starts(with: word) else { return false }
        remaining.removeFirst(word.unicodeScalars.count)
        return true
    }
}
