import CSQLite
import Foundation
import PolyStoreBackend
import Testing

@testable import PolyStoreSQLite

/// A change set that is built with names of entities and fields.
struct Changes {
    let set: ChangeSet

    init(_ schema: ResolvedSchema) { set = ChangeSet(schema) }

    func insert(_ entity: String, _ id: Int64, _ values: [String: Value] = [:]) throws {
        let entity = try #require(set.schema.entity(named: entity))
        try set.insert(entity, rowID: id) { builder in for field in entity.fields { try builder.set(field, values[field.name] ?? .null) } }
    }

    func update(_ entity: String, _ id: Int64, _ values: [String: Value]) throws {
        let entity = try #require(set.schema.entity(named: entity))
        var mask = FieldMask()
        for name in values.keys { mask.insert(try #require(entity.field(named: name)).index) }
        try set.update(entity, rowID: id, mask: mask) { builder in
            for field in entity.fields where mask.contains(field.index) { try builder.set(field, values[field.name] ?? .null) }
        }
    }

    func delete(_ entity: String, _ id: Int64) throws { set.delete(try #require(set.schema.entity(named: entity)), rowID: id) }
}
