import Foundation
import PolyStoreBackend
import PolyStoreSearch

/// The expected results of full-text searches: texts in a dictionary, and every search by reading all of them.
///
/// Only the tokenizer is that of the framework. The model has its own parser of queries, search for phrases and computation of scores.
struct SearchModel {
    /// The names of the fields.
    let fields: [String]
    /// The weight of each field.
    let weights: [Double]
    let options: SearchOptions
    /// The texts of each object, one for each field. An object without any text is not a document.
    var texts: [Int64: [String?]] = [:] {
        didSet { known = Known() }
    }
    /// The values that were computed from ``texts``.
    private var known = Known()
    private let tokens: SearchModelTokens

    init(_ index: SearchIndex, tokens: SearchModelTokens = SearchModelTokens()) {
        self.init(fields: index.fieldNames, weights: index.weights, options: index.options, tokens: tokens)
    }

    init(fields: [String], weights: [Double], options: SearchOptions, tokens: SearchModelTokens = SearchModelTokens()) {
        self.fields = fields
        self.weights = weights
        self.options = options
        self.tokens = tokens
    }

    private final class Known {
        var documents: [Int64: [[[UInt8]]?]]?
        var found: [String: [Int64: Double]] = [:]
    }

    /// Returns the objects that satisfy a query, with their scores.
    func found(_ query: String) -> [Int64: Double] {
        if let found = known.found[query] { return found }
        let found = computed(query)
        known.found[query] = found
        return found
    }

    private func computed(_ query: String) -> [Int64: Double] {
        let query = SearchModelQuery(query, fields: fields, options: options)
        let documents = documents
        let occurrences = documents.mapValues { SearchModelOccurrences(query, $0) }
        let ranks = Ranks(statistics(query, documents))
        var found: [Int64: Double] = [:]
        for (id, document) in occurrences where document.isFound {
            let length = documents[id]?.reduce(0) { $0 + ($1?.count ?? 0) } ?? 0
            found[id] = score(document, length, ranks)
        }
        return found
    }

    /// Returns the ids of the objects that satisfy a query, in ascending order.
    func ids(_ query: String) -> [Int64] { found(query).keys.sorted() }

    /// Returns the ids of the objects that satisfy a query, the highest score first, equal ones in ascending order of ids.
    func ranked(_ query: String) -> [Int64] {
        found(query).sorted { $0.value != $1.value ? $0.value > $1.value : $0.key < $1.key }.map(\.key)
    }

    /// Returns the number of documents, of terms, and of documents with each phrase that counts for the score.
    func statistics(_ query: String) -> SearchStatistics {
        statistics(SearchModelQuery(query, fields: fields, options: options), documents)
    }

    /// The terms of each field of each document; nil for null.
    private var documents: [Int64: [[[UInt8]]?]] {
        if let documents = known.documents { return documents }
        let documents = texts.filter { $0.value.contains { $0 != nil } }.mapValues { $0.map { $0.map { tokens.terms($0, options) } } }
        known.documents = documents
        return documents
    }

    // MARK: Rank

    private struct Ranks {
        /// The inverse document frequency of each phrase.
        let inverse: [Double]
        let meanLength: Double

        init(_ statistics: SearchStatistics) {
            inverse = statistics.frequencies.map { SearchModel.inverse(documents: statistics.documents, with: $0) }
            meanLength = statistics.tokens > 0 ? Double(statistics.tokens) / Double(statistics.documents) : 1
        }
    }

    private func statistics(_ query: SearchModelQuery, _ documents: [Int64: [[[UInt8]]?]]) -> SearchStatistics {
        var tokens = 0
        for document in documents.values { for field in document { tokens += field?.count ?? 0 } }
        let frequencies = query.phrases.map { phrase in
            documents.values.count { document in
                document.indices.contains { field in !phrase.positions(in: document[field] ?? [], field: field).isEmpty }
            }
        }
        return SearchStatistics(documents: documents.count, tokens: tokens, frequencies: frequencies)
    }

    private func score(_ document: SearchModelOccurrences, _ length: Int, _ ranks: Ranks) -> Double {
        var score = 0.0
        for phrase in ranks.inverse.indices {
            var frequency = 0.0
            for field in fields.indices { frequency += weights[field] * Double(document.counts[phrase][field]) }
            if frequency == 0 { continue }
            let norm = 1.2 * (1 - 0.75 + 0.75 * Double(length) / ranks.meanLength)
            score += ranks.inverse[phrase] * ((frequency * 2.2) / (frequency + norm))
        }
        return score
    }

    /// Returns the inverse document frequency: the logarithm of the framework, which may differ from that of the system in its last digits.
    static func inverse(documents: Int, with count: Int) -> Double {
        let expected = log((Double(documents) - Double(count) + 0.5) / (Double(count) + 0.5))
        if expected <= 0 { return 1e-6 }
        // With this frequency and length the other factor is 1.
        let rank = SearchRank(SearchStatistics(documents: documents, tokens: documents, frequencies: [count]), weights: [1])
        let found = rank.part(0, frequency: 0.25, length: 0)
        return abs(found - expected) <= 2 * expected.ulp ? found : expected
    }
}

/// The terms of texts. Each text is divided once.
final class SearchModelTokens {
    private struct Key: Hashable {
        let text: [UInt8]
        let options: SearchOptions
    }
    private var known: [Key: [[UInt8]]] = [:]

    func terms(_ text: String, _ options: SearchOptions) -> [[UInt8]] {
        let key = Key(text: Array(text.utf8), options: options)
        if let terms = known[key] { return terms }
        let terms = SearchTokenizer(options).tokens(in: text).map(\.term)
        known[key] = terms
        return terms
    }
}
