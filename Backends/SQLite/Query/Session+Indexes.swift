import CSQLite
import PolyStoreBackend
import PolyStoreQuery

// SQLite chooses among indexes without statistics: it prefers an equality to a range, even if ten rows match the range and ten thousand the equality. If several
// conditions of a conjunction can each be served by another index, their matches are counted first, up to a small limit, as the record layer does.

extension Session {
    /// Compiles a request, so that the most selective of its conditions is served by an index.
    func compile(_ request: FetchRequest, counting: Bool = false, countsRows: Bool = false) throws -> CompiledQuery {
        let table = try tables.table(request.entity)
        let avoided = request.ignoresIndexes ? FieldMask() : try lessSelectiveFields(request, table)
        return try connection.compiler.compile(
            request, table, connection.misordered, avoiding: avoided, counting: counting, countsRows: countsRows)
    }

    /// The maximum number of index entries that are counted for a condition.
    private static let mostEntriesCounted = 256
    /// The number of entries below which no further condition is counted.
    private static let fewEntries = 16

    /// A condition that an index can serve.
    private struct Candidate {
        let field: Int
        let predicate: QueryPredicate
        let isEquality: Bool
    }

    /// Returns the fields whose indexes SQLite might use although another condition matches far fewer rows; none if SQLite's own choice is kept.
    private func lessSelectiveFields(_ request: FetchRequest, _ table: EntityTable) throws -> FieldMask {
        guard table.indexes.count > 1, case .and(let parts) = request.predicate.node else { return FieldMask() }
        var candidates: [Candidate] = []
        for part in parts {
            guard let candidate = Self.candidate(part, table) else {
                // A condition on the row id is the most selective one.
                if case .compare(.objectID, .equal, _)? = part.fieldCondition { return FieldMask() }
                if case .oneOf(.objectID, _)? = part.fieldCondition { return FieldMask() }
                continue
            }
            candidates.append(candidate)
        }
        guard let first = candidates.first, candidates.contains(where: { $0.field != first.field }) else { return FieldMask() }
        // SQLite prefers equalities, and the first of several.
        candidates = candidates.filter(\.isEquality) + candidates.filter { !$0.isEquality }
        var best = candidates[0]
        var least = try matches(best, request.entity, upTo: Self.mostEntriesCounted)
        if least <= Self.fewEntries { return others(than: best, candidates, table) }
        for other in candidates.dropFirst() where other.field != best.field {
            let count = try matches(other, request.entity, upTo: least / 2)
            if count < least / 2 { (best, least) = (other, count) }
        }
        return others(than: best, candidates, table)
    }

    /// Returns the condition if it is an equality, a list or a range of the leading field of an index.
    private static func candidate(_ part: QueryPredicate, _ table: EntityTable) -> Candidate? {
        switch part.replacingIndexedJSON(of: table.entity).fieldCondition {
        // A set of fields has no room for more.
        case .compare(let field, _, _)? where field.index >= FieldMask.capacity: return nil
        case .oneOf(let field, _)? where field.index >= FieldMask.capacity: return nil
        case .compare(let field, let comparison, let value)? where !field.isObjectID && comparison != .notEqual && value != .null:
            guard table.isLeading(field.index) else { return nil }
            return Candidate(field: field.index, predicate: part, isEquality: comparison == .equal)
        case .oneOf(let field, let values)? where !field.isObjectID && values.count <= QueryCompiler.mostListed:
            guard table.isLeading(field.index) else { return nil }
            return Candidate(field: field.index, predicate: part, isEquality: true)
        default: return nil
        }
    }

    /// Returns the fields of the other conditions, without those of an index that also begins with the best one.
    private func others(than best: Candidate, _ candidates: [Candidate], _ table: EntityTable) -> FieldMask {
        var fields = FieldMask()
        for candidate in candidates where candidate.field != best.field { fields.insert(candidate.field) }
        for index in table.indexes where index.components.first == best.field {
            for field in index.components where field < FieldMask.capacity { fields.remove(field) }
        }
        return fields
    }

    /// Counts the rows that match a condition, up to a limit.
    private func matches(_ candidate: Candidate, _ entity: Entity, upTo limit: Int) throws -> Int {
        guard limit > 0 else { return 0 }
        let request = FetchRequest(entity, predicate: candidate.predicate, limit: limit)
        let query = try connection.compiler.compile(request, tables.table(entity), connection.misordered, counting: true)
        guard query.residual == nil else { return limit }
        return try count(query)
    }
}
