import PolyStoreBackend

/// A part of the contents of a store. A conversion copies the parts in the order of ``all(_:_:)``, and each in ascending order.
enum StorePart: Sendable, Hashable {
    /// The records of an entity, by entity index.
    case records(Int)
    /// The pairs of a link table by source, or by target.
    case links(table: Int, isReversed: Bool)
    case log
    case values

    /// Returns the parts of a store with a schema.
    static func all(_ schema: ResolvedSchema, _ capabilities: Capabilities) -> [StorePart] {
        var parts = schema.entities.indices.map(StorePart.records)
        for link in schema.links {
            parts.append(.links(table: link.index, isReversed: false))
            // The positions of sources are read in the other direction.
            if link.ordersSources { parts.append(.links(table: link.index, isReversed: true)) }
        }
        if capabilities.has(.changeLog) { parts.append(.log) }
        if capabilities.has(.namedValues) { parts.append(.values) }
        return parts
    }

    /// The name of the part for people.
    func name(_ schema: ResolvedSchema) -> String {
        switch self {
        case .records(let entity): schema.entities[entity].name
        case .links(let table, let isReversed): schema.links[table].name + (isReversed ? " (reversed)" : "")
        case .log: "the history"
        case .values: "the named values"
        }
    }

    /// The seed of the hashes of the part. It depends on names, not on the order of the schema.
    func seed(_ schema: ResolvedSchema) -> UInt64 {
        switch self {
        case .records(let entity): ContentHasher.seed(1, schema.entities[entity].name)
        case .links(let table, let isReversed): ContentHasher.seed(isReversed ? 3 : 2, schema.links[table].name)
        case .log: ContentHasher.seed(4, "")
        case .values: ContentHasher.seed(5, "")
        }
    }
}

extension ResolvedSchema {
    /// Returns the relationship that leads over a link table, from its sources or from its targets.
    /// - Throws: `invalidSchema` if no entity declares it, which a resolved schema cannot have.
    func relationship(over table: LinkTable, isReversed: Bool) throws -> Relationship {
        let entity = entities[isReversed ? table.target : table.source]
        let storage = Relationship.Storage.link(table: table.index, isReversed: isReversed)
        if let found = entity.relationships.first(where: { $0.storage == storage }) { return found }
        let other = Relationship.Storage.link(table: table.index, isReversed: !isReversed)
        let opposite = entities[isReversed ? table.source : table.target].relationships.first { $0.storage == other }
        guard let reversed = opposite?.reversed else {
            throw StoreError(.invalidSchema, "The link table \(table.name) belongs to no relationship.", entity: entity.name)
        }
        return reversed
    }
}
