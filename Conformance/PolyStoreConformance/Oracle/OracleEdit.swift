import PolyStoreBackend

/// An edit of a change set. When it is applied, references to missing objects are removed, and deletions clear references to the deleted object, because both
/// are the caller's responsibility.
enum OracleEdit {
    case insert(entity: Int, rowID: Int64, row: [Value])
    case update(entity: Int, rowID: Int64, fields: [Int: Value])
    case delete(entity: Int, rowID: Int64)
    case link(table: Int, source: Int64, target: Int64, isAddition: Bool, positions: (target: Int64?, source: Int64?))
}

extension OracleEdit: CustomStringConvertible {
    var description: String {
        switch self {
        case .insert(let entity, let id, let row): "insert E\(entity) \(id) (\(row.map(\.literal).joined(separator: ", ")))"
        case .update(let entity, let id, let fields):
            "update E\(entity) \(id) (\(fields.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value.literal)" }.joined(separator: ", ")))"
        case .delete(let entity, let id): "delete E\(entity) \(id)"
        case .link(let table, let source, let target, let isAddition, let positions):
            "\(isAddition ? "link" : "unlink") \(source) and \(target) in table \(table)"
                + (positions.target.map { " target at \($0)" } ?? "") + (positions.source.map { " source at \($0)" } ?? "")
        }
    }
}
