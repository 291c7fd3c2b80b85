import EngineTestSupport
import PolyStoreBackend

@testable import PolyStoreKeyValue

/// Schemas and changes of the migration tests.
enum Migrations {
    static func attribute(
        _ name: String, _ type: AttributeType, optional: Bool = true, unique: Bool = false, indexed: Bool = false
    ) -> PropertyDescription {
        .attribute(AttributeDescription(name: name, type: type, isOptional: optional, isUnique: unique, isIndexed: indexed))
    }

    static func schema(_ entities: EntityDescription...) throws -> ResolvedSchema {
        try ResolvedSchema(SchemaDescription(name: "migrated", entities: entities))
    }
}

extension Opened {
    /// Migrates the store and opens it for the target schema.
    func migrated(_ change: SchemaChange, _ body: (any StoreMigration) throws -> Void = { _ in }) throws -> Opened {
        let migration = try backend.beginMigration(change)
        try body(migration)
        try migration.commit()
        let opened = try Opened(engine, change.target)
        opened.backend.waitForBackgroundWork()
        return opened
    }

    /// Returns every record of an entity.
    func all(_ entity: String) throws -> [Int64: [String: Value]] {
        let entity = try store.entity(entity)
        return try store.read { transaction in
            var found: [Int64: [String: Value]] = [:]
            for id in try transaction.ids(FetchRequest(entity)) { found[id] = try transaction.values(entity, id) }
            return found
        }
    }

    /// Returns the ids of a relationship's targets.
    func targets(_ transaction: any ReadTransaction, _ entity: String, _ relationship: String, _ id: Int64) throws -> [Int64] {
        let relationship = try store.relationship(entity, relationship)
        return try transaction.related(relationship, of: [id])[id]
    }
}
