import PolyStoreBackend
import PolyStoreQuery

/// The constant properties of an open store: the schema, the numbers of its entities, indexes and link tables in keys, and the engine's traits.
final class StoreLayout: Sendable {
    let location: String
    let traits: EngineTraits
    let schema: ResolvedSchema
    /// The process that opened the store.
    let process = OwningProcess()
    /// The stored identity of the opened store; see ``checkIdentity(_:)``.
    private let identity: [UInt8]
    /// The identity of the opened store.
    let storeIdentity: KeyValueStoreIdentity
    /// The commit version of the last migration before the store was opened, as stored; `nil` for a store that was never migrated.
    let migration: [UInt8]?
    /// The value of ``EngineHandle/resetCount`` when the store was opened.
    let resets: Int
    /// The numbers of the entities, by ``Entity/index``.
    private let entityNumbers: [UInt32]
    /// The numbers of the link tables, by ``LinkTable/index``.
    private let linkNumbers: [UInt32]
    /// The indexes of each entity, by ``Entity/index``, in the order of ``Entity/indexes``.
    let indexes: [[KeyIndex]]
    /// The full-text indexes.
    let searchIndexes: [StoredSearchIndex]
    /// The record layouts of the entities, by ``Entity/index``.
    private let formats: [StoredRecordFormat]
    private let layoutNumbers: [UInt16]
    /// Whether each link table is stored with its sources and targets exchanged, by ``LinkTable/index``.
    private let reversedLinks: [Bool]
    /// A Boolean value that indicates whether any entity has a record layout other than 0.
    let isMigrated: Bool

    init(
        location: String, traits: EngineTraits, schema: ResolvedSchema, catalog: Catalog, identity: KeyValueStoreIdentity,
        migration: [UInt8]?,
        resets: Int
    )
        throws
    {
        self.migration = migration
        storeIdentity = identity
        self.identity = SealedValue.sealed(Keyspace.Metadata.identity.key(), identity.bytes)
        self.resets = resets
        self.location = location
        self.traits = traits
        self.schema = schema
        entityNumbers = try schema.entities.map { try catalog.number(of: $0, location) }
        linkNumbers = try schema.links.map { try catalog.number(of: $0, location) }
        let indexes = try schema.entities.map { entity in
            try entity.indexes.map { index in
                try KeyIndex(index, entity, number: try catalog.number(of: index, entity, location))
            }
        }
        self.indexes = indexes
        searchIndexes = try catalog.searchIndexes(of: schema, location)
        formats = try schema.entities.map { try catalog.format(of: $0, location) }
        layoutNumbers = formats.map(\.number)
        isMigrated = layoutNumbers.contains { $0 != 0 }
        reversedLinks = linkNumbers.map(catalog.reversedLinks.contains)
    }

    /// Checks that a snapshot shows the store that was opened.
    /// - Throws: `differentStoreAtURL` if another process has reset or recreated it; `corrupt` for an identity that cannot be read.
    func checkIdentity(_ snapshot: any EngineSnapshot) throws {
        let key = Keyspace.Metadata.identity.key()
        let found = try snapshot.get(key)
        // A store that was migrated to another schema and back has the same identity, and other numbers and layouts.
        if let found, found.elementsEqual(identity), try Self.migration(snapshot) == migration { return }
        if found != nil, try SealedValue.get(key, snapshot) == nil {
            throw StoreError(.corrupt, "The store \(location) is damaged: its identity cannot be read.", location: location)
        }
        throw StoreError(
            .differentStoreAtURL,
            "The store \(location) was migrated or created again since it was opened here. Close it and open it again.", location: location)
    }

    /// The key of the commit version of the last migration.
    static let migrationKey = Keyspace.Metadata.schema.key(0)

    /// Returns the commit version of the last migration as stored; `nil` for a store that was never migrated.
    static func migration(_ snapshot: any EngineSnapshot) throws -> [UInt8]? { try snapshot.get(migrationKey).map { [UInt8]($0) } }

    func number(of entity: Entity) -> UInt32 { entityNumbers[entity.index] }
    func number(of table: LinkTable) -> UInt32 { linkNumbers[table.index] }
    func linkNumber(_ table: Int) -> UInt32 { linkNumbers[table] }
    func isLinkReversed(_ table: Int) -> Bool { reversedLinks[table] }
    func format(of entity: Entity) -> StoredRecordFormat { formats[entity.index] }
    /// Returns the layout number of an entity's new records.
    func layoutNumber(of entity: Entity) -> UInt16 { layoutNumbers[entity.index] }

    /// Checks that an entity belongs to this store's schema, or is equal to one that does.
    func check(_ entity: Entity) throws {
        guard entity.index < schema.entities.count,
            schema.entities[entity.index] === entity || schema.entities[entity.index].description == entity.description
        else {
            throw StoreError(
                .misuse, "\(entity.name) is not of the schema that \(location) was opened with.", entity: entity.name, location: location)
        }
    }
}

extension StoreLayout {
    /// Checks that a change set belongs to this store's schema, or to an equal one.
    func check(_ changes: ChangeSet) throws {
        guard changes.schema === schema || changes.schema.description.entities == schema.description.entities else {
            throw StoreError(
                .misuse, "The change set is of another schema than the one that \(location) was opened with.", location: location)
        }
    }
}
