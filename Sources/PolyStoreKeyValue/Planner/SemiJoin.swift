import PolyStoreBackend

/// Converts conditions on related objects to conditions on row ids: the related objects are found first, using their own indexes, and the index of the
/// relationship leads from them to the rows. Otherwise every row would look up its related objects.
struct SemiJoin {
    let reader: SnapshotReader

    /// Returns the converted conjuncts, which are equivalent where only truth matters.
    func joined(_ conjuncts: [QueryPredicate]) throws -> [QueryPredicate] { try conjuncts.map(joined) }

    private func joined(_ part: QueryPredicate) throws -> QueryPredicate {
        guard part.needsRelated else { return part }
        switch part.node {
        case .and(let parts): return .and(try joined(parts))
        case .or(let parts): return .or(try joined(parts))
        case .related(let relationship, let quantifier, let condition) where quantifier != .all && condition.outerDepth == 0:
            return try sources(of: relationship, where: condition)
        default: return part
        }
    }

    private func sources(of relationship: RelationshipReference, where condition: QueryPredicate) throws -> QueryPredicate {
        let transaction = ScanTransaction(reader)
        switch relationship.relationship.storage {
        case .foreignKey:
            guard let key = relationship.foreignKey else { return .none }
            return .oneOf(key, try ids(transaction, relationship.destination, condition).map(Value.integer))
        case .inverse(let field):
            var request = FetchRequest(relationship.destination, predicate: condition)
            var fields = FieldMask()
            fields.insert(field)
            request.fields = fields
            let cursor = try transaction.fetch(request)
            defer { cursor.close() }
            var found: Set<Int64> = []
            while try cursor.next() { if !cursor.record.isNull(field) { found.insert(cursor.record.integer64(field)) } }
            reader.countRelatedRows(cursor.rowsExamined)
            return .oneOf(.objectID, found.sorted().map(Value.integer))
        case .link:
            guard let back = relationship.relationship.reversed else { return .none }
            let others = try ids(transaction, relationship.destination, condition)
            let sources = try reader.related(back, of: others)
            return .oneOf(.objectID, Set(others.flatMap { sources[$0] }).sorted().map(Value.integer))
        }
    }

    private func ids(_ transaction: ScanTransaction, _ entity: Entity, _ condition: QueryPredicate) throws -> [Int64] {
        let cursor = try transaction.fetch(FetchRequest(entity, predicate: condition, onlyIDs: true))
        defer { cursor.close() }
        var ids: [Int64] = []
        while try cursor.next() { ids.append(cursor.rowID) }
        reader.countRelatedRows(cursor.rowsExamined)
        return ids
    }
}
