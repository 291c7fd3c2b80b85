import PolyStoreBackend
import PolyStoreSearch

// Full-text searches. A search is of an object: the fetched one, or the one that a path leads to.

extension Comparison {
    /// Creates a search in the texts of the object that a path leads to.
    /// - Parameters:
    ///   - search: What is searched for.
    ///   - index: The name of the full-text index; empty for the one without a name, or the only one.
    ///   - path: The path to the object.
    package init(_ search: Search, in index: String, of path: PropertyPath = PropertyPath([])) {
        self.init(.path(path), .search(index: index), search.isStrict ? .query(search.text) : .constant(.text(search.text), .string))
    }

    /// The score of the object in the search.
    package var score: Operand { .score(.comparison(self)) }

    /// A Boolean value that indicates whether the comparison is a full-text search.
    var isSearch: Bool { if case .search = operation { true } else { false } }

    /// A Boolean value that indicates whether the comparison is a search in the texts of the fetched object, which needs no left side in a format string.
    var searchesFetchedObject: Bool {
        guard case .search = operation, modifier == .direct, case .path(let path) = left, path.keys.isEmpty, path.variable == nil,
            case .constant(.text, _) = right
        else { return false }
        return true
    }
}

extension ConditionResolver {
    /// Returns a full-text search in the texts of the object that a value is.
    func search(_ value: ResolvedValue, _ comparison: Comparison, _ scope: Scope) throws -> QueryPredicate {
        let condition = try condition(value, comparison, scope)
        func onObject(_ expression: QueryExpression, _ entity: Entity) throws -> QueryPredicate {
            switch expression.node {
            case .related(let relationship, let inner): return .related(relationship, .any, try onObject(inner, relationship.destination))
            case .outer(let levels, let inner): return asked(try onObject(inner, scope.entity(levels)), levels: levels)
            case .field(let field):
                guard !field.isObjectID, let relationship = reference(field, of: entity) else { return .search(condition) }
                return .related(relationship, .any, .search(condition))
            default:
                throw comparison.location.error(
                    "SEARCH cannot follow \(expression) to an object. Write a SUBQUERY, or search in the objects themselves.",
                    entity: scope.entity.name)
            }
        }
        return try onObject(value.expression, scope.entity)
    }

    /// Returns the score of the object that the left side of a search leads to; null without an object.
    func score(_ operand: Operand, _ comparison: Comparison, _ scope: Scope) throws -> ResolvedValue {
        guard case .score(.comparison(let search)) = operand else {
            throw comparison.location.error("A search query goes with SEARCH only.", entity: scope.entity.name)
        }
        let value = try value(search.left, nil, search, scope)
        let condition = try condition(value, search, scope)
        func ofObject(_ expression: QueryExpression, _ entity: Entity) throws -> QueryExpression {
            switch expression.node {
            case .related(let relationship, let inner): return .related(relationship, try ofObject(inner, relationship.destination))
            case .element(let relationship, let position, let inner):
                return .element(relationship, at: position, try ofObject(inner, relationship.destination))
            case .outer(let levels, let inner): return .outer(levels, try ofObject(inner, scope.entity(levels)))
            case .field(let field):
                guard !field.isObjectID, let relationship = reference(field, of: entity) else { return .score(condition) }
                return .related(relationship, .score(condition))
            default: throw search.location.error("SCORE cannot follow \(expression) to an object.", entity: scope.entity.name)
            }
        }
        return ResolvedValue(expression: try ofObject(value.expression, scope.entity))
    }

    /// Returns the relationship whose target a field holds.
    private func reference(_ field: FieldReference, of entity: Entity) -> RelationshipReference? {
        entity.relationships.lazy.map { RelationshipReference($0, in: schema) }.first { $0.foreignKey?.index == field.index }
    }

    /// Returns a search by an index of the entity of a value.
    private func condition(_ value: ResolvedValue, _ comparison: Comparison, _ scope: Scope) throws -> SearchCondition {
        let name = if case .search(let index) = comparison.operation { index } else { "" }
        guard let entity = value.target, value.expression.asConstant == nil else {
            throw comparison.location.error(
                "SEARCH is about the texts of an object, and \(value.expression) is \(description(of: value)). Write SEARCH \"…\" without a left side to search in the fetched object, and title:word in the query to search in one attribute.",
                entity: scope.entity.name, attribute: value.field?.name)
        }
        let index = try index(name, of: entity, comparison.location)
        let search = try search(comparison.right, comparison, scope)
        do { _ = try search.resolved(fields: index.fieldNames, options: index.options) } catch {
            throw FormatLocation(error.query, error.offset..<error.offset + 1).error(error.message, entity: entity.name)
        }
        return try SearchCondition(search, in: index, of: entity)
    }

    private func index(_ name: String, of entity: Entity, _ location: FormatLocation) throws -> SearchIndex {
        if let index = entity.searchIndex(named: name) { return index }
        let names = entity.searchIndexes.map { $0.name.isEmpty ? "one without a name" : Value.text($0.name).literal(of: .string) }
        let list = names.joined(separator: ", ")
        let message =
            if names.isEmpty {
                "\(entity.name) has no full-text index: declare #Search(\\.…) with its text attributes in the class."
            } else if name.isEmpty {
                "\(entity.name) has several full-text indexes, \(list): name one of them, as in SEARCH\(entity.searchIndexes[0].name.indexLiteral) \"…\"."
            } else {
                "\(entity.name) has no full-text index named \(Value.text(name).literal(of: .string)); it has \(list)."
            }
        throw location.error(message, entity: entity.name)
    }

    /// Returns the query of the right side of a search.
    private func search(_ operand: Operand, _ comparison: Comparison, _ scope: Scope) throws -> Search {
        switch operand {
        case .query(let text): return (try? Search(query: text)) ?? Search(text)
        case .constant(.text(let text), _): return Search(text)
        // As an empty query: it matches nothing.
        case .constant(.null, _): return Search("")
        default:
            throw comparison.location.error(
                "SEARCH takes a constant text, such as \"lazy dog\" or %@, and not \(operand).", entity: scope.entity.name)
        }
    }
}

extension ConditionResolver.Scope {
    /// Returns the entity of the object a number of levels out.
    fileprivate func entity(_ levels: Int) -> Entity { levels > 0 && levels <= outer.count ? outer[outer.count - levels].entity : entity }
}

extension String {
    /// The name of a full-text index in brackets: plain if it is an identifier, otherwise in quotes.
    var indexLiteral: String {
        let lexer = FormatLexer(self)
        let isWord = !isEmpty && lexer.wordLength(at: 0) == lexer.bytes.count
        return "[\(isWord ? self : Value.text(self).literal(of: .string))]"
    }
}
