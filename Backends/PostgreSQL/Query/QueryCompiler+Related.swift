import PolyStoreBackend

extension QueryCompiler {
    /// Returns the text of a condition on related objects; nil if the shared executor must evaluate it.
    mutating func related(
        _ reference: RelationshipReference, _ quantifier: Quantifier, _ part: QueryPredicate, _ scope: Scope, depth: Int,
        isTruthEnough: Bool
    ) throws -> String? {
        guard let (inner, from) = destination(of: reference, scope),
            let condition = try condition(part, inner, depth: depth + 2, isTruthEnough: quantifier != .one || isTruthEnough)
        else { return nil }
        switch quantifier {
        case .any: return "EXISTS (SELECT 1 FROM \(from) AND \(condition))"
        case .all: return "NOT EXISTS (SELECT 1 FROM \(from) AND (\(condition)) IS NOT TRUE)"
        case .one:
            guard case .foreignKey = reference.relationship.storage else { return nil }
            // A to-one relationship without a target, and one to a missing object, is unknown.
            return isTruthEnough ? "EXISTS (SELECT 1 FROM \(from) AND \(condition))" : "(SELECT \(condition) FROM \(from))"
        }
    }

    /// Returns the rows of the related objects: a scope, and what follows FROM, which ends with a condition.
    mutating func destination(of reference: RelationshipReference, _ scope: Scope) -> (Scope, String)? {
        let relationship = reference.relationship
        guard relationship.source < tables.entities.count, tables.entities[relationship.source] === scope.table,
            relationship.destination < tables.entities.count
        else { return nil }
        let inner = newScope(tables.entities[relationship.destination])
        let id = "\(inner.alias).\(SQLNames.objectID)"
        let source = "\(scope.alias).\(SQLNames.objectID)"
        switch relationship.storage {
        case .foreignKey(let field):
            return (inner, "\(inner.table.name) AS \(inner.alias) WHERE \(id) = \(scope.alias).\(scope.table.columns[field])")
        case .inverse(let field):
            return (inner, "\(inner.table.name) AS \(inner.alias) WHERE \(inner.alias).\(inner.table.columns[field]) = \(source)")
        case .link(let table, let isReversed):
            guard tables.links.indices.contains(table) else { return nil }
            let (here, there) = isReversed ? ("target", "source") : ("source", "target")
            let links = "\(tables.links[table].name) AS \(inner.alias)l"
            return (
                inner,
                "\(links) JOIN \(inner.table.name) AS \(inner.alias) ON \(id) = \(inner.alias)l.\(there) WHERE \(inner.alias)l.\(here) = \(source)"
            )
        }
    }
}
