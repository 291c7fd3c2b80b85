import PolyStoreBackend

extension OracleModel {
    /// Returns whether an object satisfies a full-text search.
    func matches(_ condition: SearchCondition, _ id: Int64) -> Bool { found(condition)[id] != nil }

    /// Returns the score of an object in a full-text search.
    func score(_ condition: SearchCondition, _ id: Int64) -> Double { found(condition)[id] ?? 0 }

    /// Compares what the index of a backend returns for a search.
    func mismatch(_ condition: SearchCondition, _ reader: any ReadTransaction) throws -> SearchModel.Mismatch? {
        try searches.model(condition, rows[condition.entity.index]).mismatch(condition, reader)
    }

    private func found(_ condition: SearchCondition) -> [Int64: Double] { searches.found(condition, rows[condition.entity.index]) }
}

/// The results of the searches of a case. Each is computed once for the same rows.
final class OracleSearches {
    private struct Key: Hashable {
        let entity: Int
        let index: Int
        let text: String
    }
    private struct Result {
        let rows: [Int64: [Value]]
        let found: [Int64: Double]
    }
    private var known: [Key: Result] = [:]
    private let tokens = SearchModelTokens()

    func found(_ condition: SearchCondition, _ rows: [Int64: [Value]]) -> [Int64: Double] {
        let key = Key(entity: condition.entity.index, index: condition.index.index, text: condition.text)
        // The comparison of a dictionary with itself reads no rows.
        if let result = known[key], result.rows == rows { return result.found }
        let found = model(condition, rows).found(condition.text)
        known[key] = Result(rows: rows, found: found)
        return found
    }

    func model(_ condition: SearchCondition, _ rows: [Int64: [Value]]) -> SearchModel {
        var model = SearchModel(condition.index, tokens: tokens)
        model.texts = rows.mapValues { row in
            condition.index.fields.map { field in if case .text(let text) = row[field] { text } else { nil } }
        }
        return model
    }
}
