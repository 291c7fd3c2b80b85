import PolyStoreBackend

extension SchemaDescription {
    /// Creates a schema for the migration cases.
    init(_ entities: [EntityDescription]) { self.init(name: "Test", entities: entities) }
}

extension EntityDescription {
    init(_ name: String, _ properties: [PropertyDescription], indexes: [IndexDescription] = []) {
        self.init(name: name, properties: properties, indexes: indexes)
    }
}

extension PropertyDescription {
    static func attribute(
        _ name: String, _ type: AttributeType, isOptional: Bool = false, isUnique: Bool = false, isIndexed: Bool = false
    ) -> PropertyDescription {
        .attribute(AttributeDescription(name: name, type: type, isOptional: isOptional, isUnique: isUnique, isIndexed: isIndexed))
    }

    static func toOne(_ name: String, _ destination: String, inverse: String? = nil) -> PropertyDescription {
        .relationship(RelationshipDescription(name: name, destination: destination, isToMany: false, inverse: inverse))
    }

    static func toMany(_ name: String, _ destination: String, inverse: String? = nil, isOrdered: Bool = false) -> PropertyDescription {
        .relationship(
            RelationshipDescription(name: name, destination: destination, isToMany: true, isOrdered: isOrdered, inverse: inverse))
    }
}

extension SchemaChange {
    /// Creates a change that carries elements with the same names in both schemas, except as specified.
    /// - Parameters:
    ///   - entities: The origin of target entities, by name.
    ///   - renamed: The names of source entities, by the name of the target entity. Fields keep their names unless `fields` specifies otherwise.
    ///   - fields: The origin of fields, by `Entity.field` of the target.
    ///   - links: The origin of link tables, by the name of the target's table.
    static func carrying(
        _ source: ResolvedSchema, to target: ResolvedSchema, entities: [String: EntitySource] = [:], renamed: [String: String] = [:],
        fields: [String: FieldSource] = [:], links: [String: LinkSource] = [:]
    ) throws -> SchemaChange {
        let parts = target.entities.map { entity -> EntitySource in
            if let given = entities[entity.name] { return given }
            guard let old = source.entity(named: renamed[entity.name] ?? entity.name) else { return .empty(rowIDsOf: nil) }
            let origins = entity.fields.map { field -> FieldSource in
                if let given = fields["\(entity.name).\(field.name)"] { return given }
                guard let before = old.fields.first(where: { $0.name == field.name }) else { return .constant(.null) }
                return .field(before.index, replacingNullWith: .null)
            }
            return .carried(entity: old.index, fields: origins)
        }
        let linkParts = target.links.map { table -> LinkSource in
            if let given = links[table.name] { return given }
            return source.links.first { $0.name == table.name }.map { .carried(table: $0.index, isReversed: false) } ?? .empty
        }
        return try SchemaChange(identifier: "test", source: source, target: target, entities: parts, links: linkParts)
    }
}

extension TestStore {
    /// Migrates the store, and checks the result before and after the commit.
    ///
    /// - Parameters:
    ///   - insert: Inserts records that are not carried.
    ///   - check: Receives the target of the migration, then, if the backend is persistent, a reader of the store opened with the target schema.
    /// - Returns: The store, opened with the target schema; `nil` for a backend that is not persistent.
    @discardableResult
    func migrate(
        _ change: SchemaChange, insert: (any StoreMigration) throws -> Void, check: (any ReadTransaction, String) throws -> Void
    ) throws -> TestStore? {
        let migration = try backend.beginMigration(change)
        try insert(migration)
        try check(migration.target, "before the commit")
        try migration.commit()
        return try reopen(change.target, check: check)
    }

    /// Migrates the store with a change that requires no inserts.
    @discardableResult
    func migrate(_ change: SchemaChange, check: (any ReadTransaction, String) throws -> Void = { _, _ in }) throws -> TestStore? {
        try migrate(change, insert: { _ in }, check: check)
    }

    /// Reopens the store with a schema and checks it, if the backend is persistent.
    func reopen(_ schema: ResolvedSchema, check: (any ReadTransaction, String) throws -> Void) throws -> TestStore? {
        guard run.target.capabilities.contains(.persistence) else { return nil }
        try backend.close()
        let store = try run.open(schema.description)
        try store.read { try check($0, "after reopening") }
        if run.target.capabilities.contains(.verification) { try run.expect(try store.backend.verify(), equals: [], "the verification") }
        return store
    }

    /// Reserves row ids of an entity.
    @discardableResult
    func reserve(_ name: String, _ count: Int) throws -> Int64 {
        let entity = try entity(name)
        return try write { try $0.reserveIDs(entity, count: count) }
    }

    /// Resolves a schema and creates a change to it that carries elements with the same names.
    func change(
        to description: SchemaDescription, entities: [String: SchemaChange.EntitySource] = [:], renamed: [String: String] = [:],
        fields: [String: SchemaChange.FieldSource] = [:], links: [String: SchemaChange.LinkSource] = [:]
    ) throws -> SchemaChange {
        try .carrying(
            schema, to: try ResolvedSchema(description), entities: entities, renamed: renamed, fields: fields, links: links)
    }
}

extension ReadTransaction {
    /// Returns all rows of an entity, in ascending order of row ids.
    func all(_ entity: Entity) throws -> [Int64: [Value]] {
        var rows: [Int64: [Value]] = [:]
        for id in try ids(FetchRequest(entity)) { rows[id] = try row(entity, id) }
        return rows
    }

    /// Returns every pair of a relationship as text: `source: target target; …`, with positions if it is ordered.
    func pairs(_ entity: Entity, _ name: String) throws -> String {
        guard let relationship = entity.relationship(named: name) else { return "no relationship \(name)" }
        let sources = try ids(FetchRequest(entity))
        let related = try related(relationship, of: sources)
        return sources.filter { !related[$0].isEmpty }.map { source in
            let positions = related.positions(of: source)
            let targets = related[source].enumerated().map { index, target in
                relationship.isOrdered ? "\(target)@\(positions[index])" : "\(target)"
            }
            return "\(source): \(targets.joined(separator: " "))"
        }.joined(separator: "; ")
    }
}
