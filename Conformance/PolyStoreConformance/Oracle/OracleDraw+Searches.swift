import PolyStoreBackend
import PolyStoreSearch

extension OracleDraw {
    /// A Boolean value that indicates whether the entities have full-text indexes.
    var isSearched: Bool { schema.entities.contains { !$0.searchIndexes.isEmpty } }

    /// Draws a text of few different words.
    mutating func searchedText() -> String {
        SearchTexts.text(&random, words: random.once(in: 80) ? 400 : random.pick([0, 1, 1, 2, 3, 4, 6, 9, 14]))
    }

    /// Draws a full-text search by an index of an entity.
    mutating func search(_ entity: Entity) -> SearchCondition? {
        guard !entity.searchIndexes.isEmpty else { return nil }
        let index = random.pick(entity.searchIndexes)
        let text =
            random.once(in: 20) ? random.pick(["", "-w1", "?", "\"\"", "(-w1 -w2)"]) : SearchTexts.query(&random, fields: index.fieldNames)
        // In the strict reading, because a drawn query has no mistake.
        guard let search = try? Search(query: text) else { return nil }
        return try? SearchCondition(search, in: index, of: entity)
    }

    /// Draws a request that only searches.
    mutating func searchQuery(_ entity: Entity) -> OracleQuery? {
        guard let condition = search(entity) else { return nil }
        switch random.below(6) {
        case 0, 1: return .searched(condition)
        case 2:
            return .aggregate(
                AggregateRequest(
                    entity, predicate: .search(condition), groupBy: [FieldReference.objectID],
                    aggregates: [.of(.maximum, .score(condition))]))
        case 3:
            let other = search(entity) ?? condition
            return .aggregate(
                AggregateRequest(
                    entity, predicate: predicate(entity, 1),
                    aggregates: [
                        .count, .of(.minimum, .score(other)), .of(.maximum, .score(condition)), .of(.countDistinct, .score(condition)),
                    ]))
        case 4: return .count(FetchRequest(entity, predicate: .and([.search(condition), predicate(entity, 1)])))
        default:
            let order = [SortKey(.score(condition), ascending: random.once(in: 4))]
            return .fetch(
                FetchRequest(
                    entity, predicate: .search(condition), sortKeys: order, limit: random.pick([nil, 1, 2, 3, 5, 10]),
                    offset: random.pick([0, 0, 0, 1, 3])))
        }
    }

    /// Adds a search or an order by a score to a request.
    mutating func addSearch(_ entity: Entity, _ request: inout FetchRequest) {
        guard let condition = search(entity) else { return }
        switch random.below(4) {
        case 0: request.predicate = .search(condition)
        case 1, 2: request.predicate = .and([.search(condition), request.predicate])
        default: break
        }
        if random.below(3) > 0 {
            request.sortKeys.insert(
                SortKey(.score(condition), ascending: random.once(in: 4)), at: random.below(2) % (request.sortKeys.count + 1))
        }
    }
}
