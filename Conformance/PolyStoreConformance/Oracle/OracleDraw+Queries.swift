import PolyStoreBackend

extension OracleDraw {
    mutating func query() -> OracleQuery {
        let entity = random.pick(schema.entities)
        if isSearched, random.once(in: 3), let query = searchQuery(entity) { return query }
        switch random.below(16) {
        case 15: return .compared(comparison(entity, 2))
        case 14: return .refused(wrongRequest(entity))
        case 0: return .record(entity, id(entity.index))
        case 1, 2: return related(entity) ?? .count(request(entity))
        case 3: return .count(request(entity))
        case 4, 5: return .aggregate(aggregate(entity))
        case 6: return .interleaved([request(entity), request(random.pick(schema.entities))])
        case 7: return random.once(in: 2) ? .explain(request(entity)) : .fetch(request(entity))
        default: return .fetch(request(entity))
        }
    }

    private mutating func related(_ entity: Entity) -> OracleQuery? {
        guard !entity.relationships.isEmpty else { return nil }
        let declared = random.pick(entity.relationships)
        let relationship = random.once(in: 3) ? declared.reversed ?? declared : declared
        var sources: [Int64] = []
        for _ in 0..<random.below(8) {
            let id = id(relationship.source)
            if !sources.contains(id) { sources.append(id) }
        }
        return .related(relationship, sources)
    }

    private mutating func request(_ entity: Entity) -> FetchRequest {
        var request = FetchRequest(entity, predicate: random.once(in: 6) ? .all : predicate(entity, random.below(4)))
        for _ in 0..<random.below(3) {
            let key = random.once(in: 4) ? expression(entity, 2) : .field(field(entity))
            request.sortKeys.append(
                SortKey(key, ascending: random.once(in: 2), nulls: random.pick([.smallest, .smallest, .first, .last])))
        }
        // Orders by several fields, for which compound indexes exist.
        if random.once(in: 5), let index = entity.indexes.last(where: \.readsJSON) ?? entity.indexes.last {
            let ascending = random.once(in: 2)
            request.sortKeys = index.parts.map { SortKey(entity.expression(of: $0), ascending: ascending) }
        }
        if isSearched, random.once(in: 2) { addSearch(entity, &request) }
        let count = model.rows[entity.index].count
        if random.once(in: 2) { request.limit = random.pick([0, 1, 1, 2, 3, 5, count / 2, count, .max]) }
        if random.once(in: 3) { request.offset = random.pick([0, 1, 2, 5, count / 3, count]) }
        request.onlyIDs = random.once(in: 4)
        if random.once(in: 4) {
            var mask = FieldMask()
            for field in random.pick(random.below(4), of: entity.fields) { mask.insert(field.index) }
            request.fields = mask
        }
        return request
    }

    private mutating func aggregate(_ entity: Entity) -> AggregateRequest {
        var aggregates: [Aggregate] = []
        for _ in 0..<1 + random.below(3) {
            let field = field(entity)
            let isNumber = field.type.physical == .integer && field.type != .bool || field.type == .float || field.type == .double
            switch random.below(isNumber ? 10 : 6) {
            case 5: aggregates.append(.mode(field))
            case 0: aggregates.append(.count)
            case 1: aggregates.append(.count(field))
            case 2: aggregates.append(.countDistinct(field))
            case 3: aggregates.append(.minimum(field))
            case 4: aggregates.append(.maximum(field))
            case 6: aggregates.append(.sum(field))
            case 7: aggregates.append(.standardDeviation(field))
            case 8: aggregates.append(.median(field))
            default: aggregates.append(.average(field))
            }
        }
        var groupBy: [FieldReference] = []
        for field in random.pick(random.below(3), of: entity.fields) { groupBy.append(FieldReference(field)) }
        if random.once(in: 20) { groupBy.append(.objectID) }
        var condition = random.once(in: 2) ? QueryPredicate.all : predicate(entity, random.below(3))
        // Large numbers that cancel each other in a sum, without other values that would hide the small ones.
        if let reals = aggregates.compactMap(\.field).first(where: { $0.type == .double }), random.below(3) > 0 {
            let small = QueryPredicate.and([.compare(reals, .greater, .real(-100)), .compare(reals, .less, .real(100))])
            condition = .or([small, .oneOf(reals, [.real(1e18), .real(-1e18)])])
            aggregates += [.sum(reals), .average(reals)]
            groupBy = []
        }
        return AggregateRequest(
            entity, predicate: condition, groupBy: groupBy, aggregates: aggregates)
    }

    // MARK: Conditions

    mutating func field(_ entity: Entity) -> FieldReference {
        random.once(in: 10) ? .objectID : FieldReference(random.pick(entity.fields))
    }

    mutating func predicate(_ entity: Entity, _ depth: Int) -> QueryPredicate {
        if random.once(in: 60) { return random.once(in: 2) ? deep(entity) : long(entity) }
        return shallow(entity, depth)
    }

    /// Draws a deeply nested condition.
    private mutating func deep(_ entity: Entity) -> QueryPredicate {
        var predicate = shallow(entity, 0)
        for _ in 0..<10 + random.below(40) {
            switch random.below(3) {
            case 0: predicate = .not(predicate)
            case 1: predicate = .and([shallow(entity, 0), .not(.not(predicate))])
            default: predicate = .or([predicate, .not(.not(shallow(entity, 0)))])
            }
        }
        return predicate
    }

    /// Draws a long list of values.
    private mutating func long(_ entity: Entity) -> QueryPredicate {
        let field = field(entity)
        var values: [Value] = []
        for _ in 0..<20 { values.append(constant(entity, field)) }
        for _ in 0..<500 + random.below(100) { values.append(OracleValues.scarce(field.type, &random)) }
        return .oneOf(field, values)
    }

    private mutating func shallow(_ entity: Entity, _ depth: Int) -> QueryPredicate {
        let field = field(entity)
        if isSearched, random.once(in: 4), let condition = search(entity) { return .search(condition) }
        if depth > 0, random.once(in: 4), let predicate = onOthers(entity, depth) { return predicate }
        if random.once(in: 8) { return onExpressions(entity, depth) }
        switch random.below(depth > 0 ? 18 : 12) {
        case 0...3: return .compare(field, random.pick(ComparisonOperator.allCases), constant(entity, field))
        case 4: return .compare(field, .equal, constant(entity, field))
        case 5: return .isNull(field)
        case 6, 7: return .oneOf(field, (0..<random.below(5)).map { _ in constant(entity, field) })
        case 8, 9: return text(entity) ?? .compare(field, random.pick(ComparisonOperator.allCases), constant(entity, field))
        case 10:
            let others = (entity.fields.map(FieldReference.init) + [.objectID]).filter {
                $0.type.isComparable(with: field.type)
            }
            return .compare(field, random.pick(ComparisonOperator.allCases), random.pick(others))
        case 11: return random.once(in: 3) ? .constant(random.once(in: 2)) : range(entity, field)
        case 12, 13: return .and(parts(entity, depth - 1))
        case 14, 15: return .or(parts(entity, depth - 1))
        default: return .not(predicate(entity, depth - 1))
        }
    }

    private mutating func parts(_ entity: Entity, _ depth: Int) -> [QueryPredicate] {
        var parts: [QueryPredicate] = []
        for _ in 0..<2 + random.below(2) { parts.append(predicate(entity, depth)) }
        return parts
    }

    private mutating func range(_ entity: Entity, _ field: FieldReference) -> QueryPredicate {
        .and([
            .compare(field, random.pick([.greater, .greaterOrEqual]), constant(entity, field)),
            .compare(field, random.pick([.less, .lessOrEqual]), constant(entity, field)),
        ])
    }

    private mutating func text(_ entity: Entity) -> QueryPredicate? {
        let texts = entity.fields.filter { $0.type.physical == .text }
        guard !texts.isEmpty else { return nil }
        let field = FieldReference(random.pick(texts))
        if random.once(in: 4) {
            let operation = random.pick([TextOperator.like, .matches])
            if operation == .like, random.once(in: 2), case .text(let text) = constant(entity, field) {
                return .text(field, .like, random.once(in: 2) ? likeness(of: text) : escapedBeginning(of: text))
            }
            return .text(field, operation, pattern(operation))
        }
        var pattern = OracleValues.pattern(&random)
        if random.once(in: 3), case .text(let text) = constant(entity, field) {
            let scalars = text.unicodeScalars
            let part = random.once(in: 2) ? scalars.prefix(random.below(8)) : scalars.suffix(random.below(8))
            pattern = String(String.UnicodeScalarView(part))
        }
        return .text(field, random.pick([TextOperator.contains, .beginsWith, .endsWith]), pattern)
    }

    /// Draws a value that an object has or could have, occasionally null or of the wider type.
    private mutating func constant(_ entity: Entity, _ field: FieldReference) -> Value {
        if random.once(in: 15) { return .null }
        if field.isObjectID { return .integer(id(entity.index)) }
        let ids = model.ids(entity.index)
        if !ids.isEmpty, random.once(in: 2), let row = model.rows[entity.index][random.pick(ids)], !row[field.index].isNull {
            return row[field.index]
        }
        if random.once(in: 10) {
            switch field.type.physical {
            case .integer: return OracleValues.value(.int64, &random)
            case .real: return OracleValues.value(.double, &random)
            case .text: return OracleValues.value(.string, &random)
            case .blob: return OracleValues.value(.data, &random)
            }
        }
        return value(entity, entity.fields[field.index])
    }
}
