import CSQLite
import Foundation
import PolyStoreBackend
import Testing

@testable import PolyStoreSQLite

extension ReadTransaction {
    func ids(_ request: FetchRequest) throws -> [Int64] {
        let cursor = try fetch(request)
        defer { cursor.close() }
        var ids: [Int64] = []
        while try cursor.next() { ids.append(cursor.rowID) }
        return ids
    }

    func values(_ entity: Entity, _ id: Int64) throws -> [String: Value]? {
        guard let record = try record(entity, rowID: id) else { return nil }
        var values: [String: Value] = [:]
        for field in entity.fields where !record.isNull(field.index) { values[field.name] = record.value(field) }
        return values
    }
}
