import PolyStoreSearch

/// A full-text search in a request: an index of the entity, and a query.
///
/// Whether an object satisfies it depends on the texts of the object alone, see `SearchMatcher`; never unknown. Its score depends on the statistics of the index too.
public struct SearchCondition: Sendable, Hashable {
    /// The entity of the index.
    public let entity: Entity
    /// The index.
    public let index: SearchIndex
    /// The query in the terms of the index.
    public let search: ResolvedSearch
    /// The text of the query, as the caller wrote it.
    public let text: String
    /// The statistics with which scores are computed; nil for those of the transaction that evaluates the request.
    public var statistics: SearchStatistics?
    /// The scores that the index gave; nil if they are computed from the texts.
    public var scores: SearchScores?

    /// Creates a search by an index.
    /// - Throws: `invalidPredicate` with the place of the mistake if a strict search names a field that the index does not have.
    public init(_ search: Search, in index: SearchIndex, of entity: Entity) throws {
        self.entity = entity
        self.index = index
        text = search.text
        do { self.search = try search.resolved(fields: index.fieldNames, options: index.options) } catch {
            throw StoreError(.invalidPredicate, "\(error.message)", entity: entity.name)
        }
    }
}

/// The scores of the objects that a search found.
public final class SearchScores: Sendable, Hashable {
    private let scores: [Int64: Double]

    /// Creates the scores of hits that have them.
    public init(_ hits: SearchHits) { scores = Dictionary(zip(hits.documents, hits.scores), uniquingKeysWith: { first, _ in first }) }

    /// The score of an object; 0 if the search did not find it.
    public subscript(rowID: Int64) -> Double { scores[rowID] ?? 0 }

    public static func == (left: SearchScores, right: SearchScores) -> Bool { left === right }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension SearchCondition: CustomStringConvertible {
    /// The search in readable form: `SEARCH "lazy dog"`.
    public var description: String { "SEARCH\(index.name.isEmpty ? "" : "[\(index.name)]") \(Value.text(text).literal)" }
}

extension QueryPredicate {
    /// Returns a full-text search.
    public static func search(_ condition: SearchCondition) -> QueryPredicate { QueryPredicate(.search(condition)) }

    /// A Boolean value that indicates whether the predicate contains a full-text search.
    public var searches: Bool { searches(scoresOnly: false) }

    /// Returns whether the predicate contains a full-text search, or the score of one.
    fileprivate func searches(scoresOnly: Bool) -> Bool {
        func has(_ part: QueryPredicate) -> Bool { part.searches(scoresOnly: scoresOnly) }
        func has(_ part: QueryExpression) -> Bool { part.searches(scoresOnly: scoresOnly) }
        return switch node {
        case .search: !scoresOnly
        case .constant: false
        case .compare(let left, _, let right), .text(let left, _, let right): has(left) || has(right)
        case .isNull(let expression), .oneOf(let expression, _): has(expression)
        case .related(_, _, let part), .not(let part): has(part)
        case .and(let parts), .or(let parts): parts.contains { has($0) }
        }
    }
}

extension QueryExpression {
    /// A Boolean value that indicates whether the expression contains a full-text search.
    public var searches: Bool { searches(scoresOnly: false) }

    /// Returns whether the expression contains a full-text search, or the score of one.
    fileprivate func searches(scoresOnly: Bool) -> Bool {
        func has(_ part: QueryPredicate) -> Bool { part.searches(scoresOnly: scoresOnly) }
        func has(_ part: QueryExpression) -> Bool { part.searches(scoresOnly: scoresOnly) }
        return switch node {
        case .score: true
        case .field, .constant: false
        case .related(_, let inner), .aggregate(_, _, let inner), .folded(let inner, _), .datePart(_, _, let inner), .json(_, let inner),
            .element(_, _, let inner), .outer(_, let inner):
            has(inner)
        case .count(_, let predicate): has(predicate)
        case .arithmetic(_, let left, let right): has(left) || has(right)
        case .function(_, let operands): operands.contains { has($0) }
        case .conditional(let predicate, let first, let second): has(predicate) || has(first) || has(second)
        }
    }
}

extension QueryPredicate {
    /// A Boolean value that indicates whether the predicate reads more than the record: related objects, or the statistics of scores.
    package var needsTransaction: Bool { needsRelated || needsStatistics }

    /// A Boolean value that indicates whether the predicate contains the score of a full-text search.
    package var needsStatistics: Bool { searches(scoresOnly: true) }
}

extension QueryExpression {
    /// A Boolean value that indicates whether the expression reads more than the record: related objects, or the statistics of scores.
    package var needsTransaction: Bool { needsRelated || needsStatistics }

    /// A Boolean value that indicates whether the expression contains the score of a full-text search.
    package var needsStatistics: Bool { searches(scoresOnly: true) }
}

extension FetchRequest {
    /// A Boolean value that indicates whether the request contains a full-text search.
    public var searches: Bool { predicate.searches || sortKeys.contains { $0.expression?.searches ?? false } }
}

/// A full-text search that a backend executes by its index.
public struct SearchRequest: Sendable, Hashable {
    /// The index and the query.
    public var condition: SearchCondition
    /// The statistics with which the scores are computed; nil if no scores are computed.
    public var statistics: SearchStatistics?
    /// The maximum number of documents. The result then has the best ones in the order of their scores. Requires statistics. With nil it has all documents in
    /// ascending order of their ids.
    public var limit: Int?

    /// Creates a request.
    public init(_ condition: SearchCondition, scoredBy statistics: SearchStatistics? = nil, limit: Int? = nil) {
        self.condition = condition
        self.statistics = statistics
        self.limit = limit
    }
}

extension Entity {
    /// Checks that a full-text search is one of this entity.
    func check(_ condition: SearchCondition) throws {
        guard condition.entity == self, searchIndexes.indices.contains(condition.index.index),
            searchIndexes[condition.index.index] == condition.index
        else {
            throw StoreError(
                .invalidPredicate, "\(condition) is a search in \(condition.index.plainName), which is not a full-text index of \(name).",
                entity: name)
        }
    }
}

extension QueryPredicate {
    /// Returns the predicate with others in place of its full-text searches and of their scores. Only what contains searches is visited.
    /// - Parameters:
    ///   - search: Returns what takes the place of a search.
    ///   - score: Returns what takes the place of a score.
    package func replacingSearches(
        _ search: (SearchCondition) throws -> QueryPredicate, scores score: (SearchCondition) throws -> QueryExpression
    ) rethrows -> QueryPredicate {
        guard searches else { return self }
        func map(_ part: QueryPredicate) throws -> QueryPredicate { try part.replacingSearches(search, scores: score) }
        func value(_ part: QueryExpression) throws -> QueryExpression { try part.replacingSearches(search, scores: score) }
        return switch node {
        case .search(let condition): try search(condition)
        case .constant: self
        case .compare(let left, let comparison, let right): QueryPredicate(.compare(try value(left), comparison, try value(right)))
        case .text(let left, let operation, let right): QueryPredicate(.text(try value(left), operation, try value(right)))
        case .isNull(let expression): QueryPredicate(.isNull(try value(expression)))
        case .oneOf(let expression, let values): QueryPredicate(.oneOf(try value(expression), values))
        case .related(let relationship, let quantifier, let part): QueryPredicate(.related(relationship, quantifier, try map(part)))
        case .and(let parts): .and(try parts.map(map))
        case .or(let parts): .or(try parts.map(map))
        case .not(let part): .not(try map(part))
        }
    }
}

extension QueryExpression {
    /// Returns the expression with others in place of its full-text searches; see `QueryPredicate.replacingSearches`.
    package func replacingSearches(
        _ search: (SearchCondition) throws -> QueryPredicate, scores score: (SearchCondition) throws -> QueryExpression
    ) rethrows -> QueryExpression {
        guard searches else { return self }
        func map(_ part: QueryPredicate) throws -> QueryPredicate { try part.replacingSearches(search, scores: score) }
        func value(_ part: QueryExpression) throws -> QueryExpression { try part.replacingSearches(search, scores: score) }
        let mapped: Node =
            switch node {
            case .score(let condition): try score(condition).node
            case .field, .constant: node
            case .related(let relationship, let inner): .related(relationship, try value(inner))
            case .count(let relationship, let predicate): .count(relationship, try map(predicate))
            case .aggregate(let function, let relationship, let inner): .aggregate(function, relationship, try value(inner))
            case .arithmetic(let operation, let left, let right): .arithmetic(operation, try value(left), try value(right))
            case .folded(let inner, let options): .folded(try value(inner), options)
            case .function(let function, let operands): .function(function, try operands.map(value))
            case .datePart(let part, let zone, let inner): .datePart(part, zone, try value(inner))
            case .json(let field, let inner): .json(field, try value(inner))
            case .conditional(let predicate, let first, let second): .conditional(try map(predicate), try value(first), try value(second))
            case .element(let relationship, let position, let inner): .element(relationship, position, try value(inner))
            case .outer(let levels, let inner): .outer(levels, try value(inner))
            }
        return QueryExpression(mapped, type)
    }
}

extension FetchRequest {
    /// Returns the request with others in place of its full-text searches; see `QueryPredicate.replacingSearches`.
    package func replacingSearches(
        _ search: (SearchCondition) throws -> QueryPredicate, scores score: (SearchCondition) throws -> QueryExpression
    ) rethrows -> FetchRequest {
        var copy = self
        copy.predicate = try predicate.replacingSearches(search, scores: score)
        copy.sortKeys = try sortKeys.map { key in
            guard let expression = key.expression, expression.searches else { return key }
            return SortKey(try expression.replacingSearches(search, scores: score), ascending: key.ascending, nulls: key.nulls)
        }
        return copy
    }
}
