import PolyStoreBackend

extension QueryCompiler {
    /// Returns the text of a condition on related objects; nil if the shared executor must evaluate it.
    mutating func related(
        _ reference: RelationshipReference, _ quantifier: Quantifier, _ part: QueryPredicate, _ scope: Scope, depth: Int,
        isTruthEnough: Bool
    ) throws -> String? {
        let relationship = reference.relationship
        guard relationship.source < tables.entities.count, tables.entities[relationship.source] === scope.table,
            relationship.destination < tables.entities.count
        else { return nil }
        let inner = newScope(tables.entities[relationship.destination])
        let id = "\(inner.alias).\(SQLNames.objectID)"
        let source = "\(scope.alias).\(SQLNames.objectID)"
        guard let condition = try condition(part, inner, depth: depth + 2, isTruthEnough: quantifier != .one || isTruthEnough) else {
            return nil
        }
        let from: String
        switch relationship.storage {
        case .foreignKey(let field):
            let key = "\(scope.alias).\(scope.table.columns[field])"
            // A to-one relationship without a target, and one to a missing object, is unknown.
            if quantifier == .one {
                return isTruthEnough
                    ? "EXISTS (SELECT 1 FROM \(inner.table.name) AS \(inner.alias) WHERE \(id) = \(key) AND \(condition))"
                    : "(SELECT \(condition) FROM \(inner.table.name) AS \(inner.alias) WHERE \(id) = \(key))"
            }
            from = "\(inner.table.name) AS \(inner.alias) WHERE \(id) = \(key)"
        case .inverse(let field):
            from = "\(inner.table.name) AS \(inner.alias) WHERE \(inner.alias).\(inner.table.columns[field]) = \(source)"
        case .link(let table, let isReversed):
            guard tables.links.indices.contains(table) else { return nil }
            let (here, there) = isReversed ? ("target", "source") : ("source", "target")
            let alias = inner.alias + "l"
            from =
                "\(tables.links[table].name) AS \(alias) JOIN \(inner.table.name) AS \(inner.alias) ON \(id) = \(alias).\(there) WHERE \(alias).\(here) = \(source)"
        }
        switch quantifier {
        case .any: return "EXISTS (SELECT 1 FROM \(from) AND \(condition))"
        case .all: return "NOT EXISTS (SELECT 1 FROM \(from) AND (\(condition)) IS NOT TRUE)"
        case .one: return nil
        }
    }
}
