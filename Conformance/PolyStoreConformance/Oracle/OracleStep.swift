import PolyStoreBackend

/// One operation of a case on a store. Steps are plain values: a list with some of them removed is still valid.
enum OracleStep {
    /// Applies a change set in the open write transaction, or in a new one.
    case apply([OracleEdit])
    case commit
    case rollback
    case reserveIDs(entity: Int, count: Int)
    /// Opens a read transaction and holds it; the previously held one ends.
    case hold
    /// Closes the store and opens it again.
    case reopen
    /// Opens the store with only the first full-text indexes of each entity, as many as the list states, applies and commits a change set, and opens it with all indexes again.
    case reopenWithFewerIndexes(kept: [Int], [OracleEdit])
    case ask(OracleTransaction, OracleQuery)
}

extension OracleStep: CustomStringConvertible {
    var description: String {
        switch self {
        case .apply(let edits): "apply " + edits.map(\.description).joined(separator: ", ")
        case .commit: "commit"
        case .rollback: "rollback"
        case .reserveIDs(let entity, let count): "reserve \(count) ids of E\(entity)"
        case .hold: "hold a reader"
        case .reopen: "reopen"
        case .reopenWithFewerIndexes(let kept, let edits):
            "reopen with \(kept) full-text indexes, apply \(edits.map(\.description).joined(separator: ", "))"
        case .ask(let transaction, let query): (["ask \(transaction.rawValue) \(query)"] + query.code).joined(separator: "\n     ")
        }
    }
}
