/// Finds a search in documents without an index. What it finds is the meaning of a search; an index gives the same, faster.
///
/// Creating a matcher costs more than matching a short text, so use one matcher for all documents.
public struct SearchMatcher: Sendable {
    /// The search.
    public let search: ResolvedSearch
    /// The tokenizer.
    public let tokenizer: SearchTokenizer
    let terms: SearchTerms
    let condition: SearchCondition
    /// A Boolean value for each phrase that indicates whether it counts for the score.
    let isRanked: [Bool]
    /// A Boolean value that indicates whether every phrase is one term and none is in `NEAR`, so that the first occurrences decide.
    private let hasOnlyTerms: Bool

    /// Creates a matcher.
    public init(_ search: ResolvedSearch, _ options: SearchOptions) {
        let search = search.withoutUnknownPhrases
        self.search = search
        tokenizer = SearchTokenizer(options)
        terms = SearchTerms(search)
        condition = SearchCondition(search.root)
        var isRanked = [Bool](repeating: false, count: search.phrases.count)
        for phrase in search.ranked { isRanked[phrase] = true }
        self.isRanked = isRanked
        hasOnlyTerms = condition.nears.isEmpty && search.phrases.allSatisfy { $0.terms.count == 1 }
    }

    /// Returns the occurrences of the search in a document; nil if the document does not match.
    /// - Parameter fields: The texts of the document, one for each field of the index; nil for null.
    public func match(_ fields: [String?]) -> SearchMatch? {
        if case .nothing = condition.root { return nil }
        var found = Found(self, fields: fields.count)
        for (field, text) in fields.enumerated() where text != nil {
            found.add(occurrences(in: text ?? "", field: field), field: field, self)
        }
        guard condition.isSatisfied(phrases: found.phrases, nears: found.nears) else { return nil }
        for phrase in search.phrases.indices where !isRanked[phrase] { found.counts[phrase] = [Int](repeating: 0, count: fields.count) }
        return SearchMatch(occurrences: found.counts, length: found.length)
    }

    /// Returns whether a document matches. Ends as soon as the answer is known.
    /// - Parameter fields: The texts of the document, one for each field of the index; nil for null.
    public func matches(_ fields: [String?]) -> Bool {
        if case .nothing = condition.root { return false }
        if hasOnlyTerms { return matchesTerms(fields) }
        var found = Found(self, fields: fields.count)
        for (field, text) in fields.enumerated() where text != nil {
            found.add(occurrences(in: text ?? "", field: field), field: field, self)
            if condition.isMonotone, condition.isSatisfied(phrases: found.phrases, nears: found.nears) { return true }
        }
        return condition.isSatisfied(phrases: found.phrases, nears: found.nears)
    }

    /// Returns which phrases occur in a document in their fields, for ``SearchStatistics/frequencies``, and the number of its tokens.
    ///
    /// A phrase occurs on its own here, also if it is in `NEAR` or the document does not match. Phrases that do not count for the score are false.
    public func frequencies(_ fields: [String?]) -> (contains: [Bool], length: Int) {
        var contains = [Bool](repeating: false, count: search.phrases.count)
        var length = 0
        for (field, text) in fields.enumerated() where text != nil {
            let found = occurrences(in: text ?? "", field: field)
            length += found.length
            for phrase in contains.indices where isRanked[phrase] && !found.phrases[phrase].isEmpty { contains[phrase] = true }
        }
        return (contains, length)
    }
}

extension SearchMatcher {
    /// The occurrences in one field.
    struct FieldOccurrences {
        /// The positions of each phrase.
        var phrases: [[Int]]
        /// The number of tokens of the field.
        var length: Int
    }

    /// The matches in the fields of a document.
    private struct Found {
        var counts: [[Int]]
        var phrases: [Bool]
        var nears: [Bool]
        var length = 0

        init(_ matcher: SearchMatcher, fields: Int) {
            counts = [[Int]](repeating: [Int](repeating: 0, count: fields), count: matcher.search.phrases.count)
            phrases = [Bool](repeating: false, count: matcher.search.phrases.count)
            nears = [Bool](repeating: false, count: matcher.condition.nears.count)
        }

        mutating func add(_ occurrences: FieldOccurrences, field: Int, _ matcher: SearchMatcher) {
            length += occurrences.length
            for (phrase, positions) in occurrences.phrases.enumerated() where !positions.isEmpty {
                phrases[phrase] = true
                counts[phrase][field] = positions.count
            }
            for (index, near) in matcher.condition.nears.enumerated() {
                let trimmed = matcher.near(near, occurrences)
                if trimmed != nil { nears[index] = true }
                for (place, phrase) in near.phrases.enumerated() { counts[phrase][field] = trimmed?[place].count ?? 0 }
            }
        }
    }

    /// Returns the occurrences of the phrases of `NEAR` that satisfy it in one field.
    func near(_ near: SearchCondition.Near, _ occurrences: FieldOccurrences) -> [[Int]]? {
        SearchPositions.near(
            near.phrases.map { occurrences.phrases[$0] }, lengths: near.phrases.map { search.phrases[$0].terms.count },
            distance: near.distance)
    }

    /// Returns whether a phrase is searched in a field.
    func isSearched(_ phrase: Int, field: Int) -> Bool {
        let fields = search.phrases[phrase].fields
        return field < 64 ? fields >> UInt64(field) & 1 == 1 : fields == .max
    }

    /// Returns the positions of all phrases in a field.
    func occurrences(in text: String, field: Int) -> FieldOccurrences {
        var positions = [[Int]](repeating: [], count: terms.count)
        var position = 0
        var isFound = false
        var text = text
        text.withUTF8 { bytes in
            tokenizer.withScanner(bytes) { scanner in
                while scanner.next() {
                    terms.forEach(UnsafeBufferPointer(start: scanner.term, count: scanner.termCount)) { term in
                        positions[term].append(position)
                        isFound = true
                    }
                    position += 1
                }
            }
        }
        let none = FieldOccurrences(phrases: [[Int]](repeating: [], count: search.phrases.count), length: position)
        guard isFound else { return none }
        return FieldOccurrences(
            phrases: search.phrases.indices.map { phrase in
                guard isSearched(phrase, field: field) else { return [] }
                let indexes = terms.phrases[phrase]
                return indexes.count == 1 ? positions[indexes[0]] : SearchPositions.phrase(indexes.map { positions[$0] })
            }, length: position)
    }

    /// Returns whether a document matches a search without phrases of several terms.
    private func matchesTerms(_ fields: [String?]) -> Bool {
        var isFound = [Bool](repeating: false, count: search.phrases.count)
        for (field, text) in fields.enumerated() where text != nil {
            if addTerms(of: text ?? "", field: field, to: &isFound) { return true }
        }
        return condition.isSatisfied(phrases: isFound, nears: [])
    }

    /// Adds the phrases that a field has. Returns true, perhaps before the end of the text, if the document matches whatever follows.
    private func addTerms(of text: String, field: Int, to isFound: inout [Bool]) -> Bool {
        var isSeen = [Bool](repeating: false, count: terms.count)
        var text = text
        return text.withUTF8 { bytes in
            tokenizer.withScanner(bytes) { scanner in
                while scanner.next() {
                    var isNews = false
                    terms.forEach(UnsafeBufferPointer(start: scanner.term, count: scanner.termCount)) { term in
                        if !isSeen[term] {
                            isSeen[term] = true
                            isNews = true
                        }
                    }
                    guard isNews else { continue }
                    for phrase in isFound.indices where isSeen[terms.phrases[phrase][0]] && isSearched(phrase, field: field) {
                        isFound[phrase] = true
                    }
                    if condition.isMonotone, condition.isSatisfied(phrases: isFound, nears: []) { return true }
                }
                return false
            }
        }
    }
}
