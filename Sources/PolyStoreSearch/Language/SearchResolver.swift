/// Turns an expression into phrases of terms.
struct SearchResolver {
    /// The maximum number of phrases of a search.
    static let maximumPhrases = 64
    /// The maximum number of terms in all phrases of a search.
    static let maximumTerms = 256

    private let query: String
    private let bytes: [UInt8]
    /// The names of the fields; nil if every name is a field.
    private let fields: [String]?
    private let tokenizer: SearchTokenizer
    private let isStrict: Bool
    private var phrases: [ResolvedSearch.Phrase] = []
    private var terms = 0

    /// Returns the resolved form of an expression.
    /// - Throws: ``SearchSyntaxError`` in the strict reading, for an unknown field or a query that is too long.
    static func resolve(
        _ expression: SearchExpression?, in query: String, bytes: [UInt8], fields: [String]?, options: SearchOptions, isStrict: Bool
    ) throws(SearchSyntaxError) -> ResolvedSearch {
        var resolver = SearchResolver(query: query, bytes: bytes, fields: fields, tokenizer: SearchTokenizer(options), isStrict: isStrict)
        let root = try expression.map { (part) throws(SearchSyntaxError) in try resolver.resolve(part, .max) } ?? nil
        return ResolvedSearch(phrases: resolver.phrases, root: root ?? .nothing).withoutUnusedPhrases
    }

    private init(query: String, bytes: [UInt8], fields: [String]?, tokenizer: SearchTokenizer, isStrict: Bool) {
        self.query = query
        self.bytes = bytes
        self.fields = fields
        self.tokenizer = tokenizer
        self.isStrict = isStrict
    }

    /// Returns the condition of an expression; nil if it has no tokens, so that it is skipped.
    private mutating func resolve(_ expression: SearchExpression, _ mask: UInt64) throws(SearchSyntaxError) -> ResolvedSearch.Node? {
        switch expression {
        case .phrase(let operand):
            return try phrase(operand, mask).map { mask == 0 ? .nothing : .phrase($0) }
        case .near(let operands, let distance):
            var members: [Int] = []
            for operand in operands { if let index = try phrase(operand, mask) { members.append(index) } }
            if members.isEmpty { return nil }
            return mask == 0 ? .nothing : members.count == 1 ? .phrase(members[0]) : .near(members, distance: distance)
        case .field(let name, let inner, let text):
            return try field(name, inner, text, mask)
        case .not(let inner):
            return try all([.not(inner)], mask)
        case .all(let parts):
            return try all(parts, mask)
        case .any(let parts):
            var nodes: [ResolvedSearch.Node] = []
            var isEmpty = true
            for part in parts {
                guard let node = try resolve(part, mask) else { continue }
                isEmpty = false
                if node != .nothing { nodes.append(node) }
            }
            if isEmpty { return nil }
            return nodes.isEmpty ? .nothing : nodes.count == 1 ? nodes[0] : .or(nodes)
        }
    }

    private mutating func all(_ parts: [SearchExpression], _ mask: UInt64) throws(SearchSyntaxError) -> ResolvedSearch.Node? {
        var required: [ResolvedSearch.Node] = []
        var excluded: [ResolvedSearch.Node] = []
        for part in parts {
            if case .not(let inner) = part {
                if let node = try resolve(inner, mask) { excluded.append(node) }
            } else if let node = try resolve(part, mask) {
                required.append(node)
            }
        }
        if required.isEmpty { return excluded.isEmpty ? nil : .nothing }
        if required.contains(.nothing) { return .nothing }
        let node = required.count == 1 ? required[0] : .and(required)
        excluded.removeAll { $0 == .nothing }
        return excluded.isEmpty ? node : .excluding(node, excluded.count == 1 ? excluded[0] : .or(excluded))
    }

    private mutating func field(
        _ name: Range<Int>, _ inner: SearchExpression, _ text: SearchOperand?, _ mask: UInt64
    ) throws(SearchSyntaxError) -> ResolvedSearch.Node? {
        guard let fields else { return try resolve(inner, mask) }
        let written = String(decoding: bytes[name], as: UTF8.self)
        if let index = Self.index(of: written, in: fields) { return try resolve(inner, index < 64 ? mask & (1 << UInt64(index)) : 0) }
        if isStrict {
            let names = fields.isEmpty ? "The index has no named fields" : "The fields are: \(fields.joined(separator: ", "))"
            throw SearchSyntaxError(
                "There is no field \"\(written)\". \(names). Put the text in quotation marks to search it as text",
                query: query,
                offset: name.lowerBound)
        }
        if let text { return try resolve(.phrase(text), mask) }
        return try all([.phrase(SearchOperand(range: name)), inner], mask)
    }

    /// Returns the field with a name, or the only one whose name differs in the case of ASCII letters only.
    private static func index(of name: String, in fields: [String]) -> Int? {
        if let index = fields.firstIndex(of: name) { return index }
        let similar = fields.indices.filter { fields[$0].lowercased() == name.lowercased() }
        return similar.count == 1 ? similar[0] : nil
    }

    /// Adds the phrase of a text and returns its index; nil if the text has no tokens or the search is full.
    private mutating func phrase(_ operand: SearchOperand, _ mask: UInt64) throws(SearchSyntaxError) -> Int? {
        if !isStrict, phrases.count == Self.maximumPhrases || terms == Self.maximumTerms { return nil }
        guard var phrase = tokenizer.phrase(bytes[operand.range], isPrefix: operand.isPrefix, limit: Self.maximumTerms + 1) else {
            return nil
        }
        if isStrict, phrases.count == Self.maximumPhrases || terms + phrase.terms.count > Self.maximumTerms {
            throw SearchSyntaxError(
                "The query has more than \(Self.maximumPhrases) words and phrases, or more than \(Self.maximumTerms) words in them. Search for fewer",
                query: query, offset: operand.range.lowerBound)
        }
        if terms + phrase.terms.count > Self.maximumTerms {
            phrase.terms.removeSubrange((Self.maximumTerms - terms)...)
            phrase.isPrefix = false
        }
        terms += phrase.terms.count
        phrase.fields = mask
        phrases.append(phrase)
        return phrases.count - 1
    }
}

extension ResolvedSearch {
    /// The search without phrases that no condition names, such as those of a group that no document can satisfy.
    fileprivate var withoutUnusedPhrases: ResolvedSearch {
        var isUsed = [Bool](repeating: false, count: phrases.count)
        root.forEachPhrase { isUsed[$0] = true }
        if !isUsed.contains(false) { return self }
        var indexes = [Int](repeating: -1, count: phrases.count)
        var used: [Phrase] = []
        for index in phrases.indices where isUsed[index] {
            indexes[index] = used.count
            used.append(phrases[index])
        }
        return ResolvedSearch(phrases: used, root: root.mapPhrases { indexes[$0] })
    }
}

extension ResolvedSearch.Node {
    /// Calls a closure with the index of each phrase of the condition.
    func forEachPhrase(_ body: (Int) -> Void) {
        switch self {
        case .nothing: break
        case .phrase(let phrase): body(phrase)
        case .near(let phrases, _): phrases.forEach(body)
        case .and(let parts), .or(let parts): for part in parts { part.forEachPhrase(body) }
        case .excluding(let part, let other):
            part.forEachPhrase(body)
            other.forEachPhrase(body)
        }
    }

    fileprivate func mapPhrases(_ transform: (Int) -> Int) -> Self {
        switch self {
        case .nothing: .nothing
        case .phrase(let phrase): .phrase(transform(phrase))
        case .near(let phrases, let distance): .near(phrases.map(transform), distance: distance)
        case .and(let parts): .and(parts.map { $0.mapPhrases(transform) })
        case .or(let parts): .or(parts.map { $0.mapPhrases(transform) })
        case .excluding(let part, let other): .excluding(part.mapPhrases(transform), other.mapPhrases(transform))
        }
    }
}
