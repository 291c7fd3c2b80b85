import PolyStoreBackend

/// What never changes while a store is open: the schema, the numbers that its entities, indexes and link tables have in keys, and the engine's
/// traits.
final class StoreLayout: Sendable {
    let place: String
    let traits: EngineTraits
    let schema: ResolvedSchema
    /// Who opened it.
    let process = OwningProcess()
    /// The store that was opened, as it is kept: see ``checkIdentity(_:)``.
    private let identity: [UInt8]
    /// ``EngineHandle/resetCount`` when it was opened.
    let resets: Int
    /// By ``Entity/index``.
    private let entityNumbers: [UInt32]
    /// By ``LinkTable/index``.
    private let linkNumbers: [UInt32]
    /// By ``Entity/index``: its indexes in the order of ``Entity/indexes``.
    let indexes: [[KeyIndex]]
    /// The entities, by ``Entity/index``, in the order of their keys.
    let entityOrder: [Int]
    /// The indexes, by entity and position, in the order of their keys: the unique ones last.
    let indexOrder: [(entity: Int, position: Int)]
    /// The link tables, by ``LinkTable/index``, in the order of their keys.
    let linkOrder: [Int]

    init(place: String, traits: EngineTraits, schema: ResolvedSchema, catalog: Catalog, identity: StoreIdentity, resets: Int) throws {
        self.identity = SealedValue.sealed(Keyspace.Metadata.identity.key(), identity.bytes)
        self.resets = resets
        self.place = place
        self.traits = traits
        self.schema = schema
        entityNumbers = try schema.entities.map { try catalog.number(of: $0, place) }
        linkNumbers = try schema.links.map { try catalog.number(of: $0, place) }
        let indexes = try schema.entities.map { entity in
            try entity.indexes.map { index in
                try KeyIndex(index, entity, number: try catalog.number(of: index, entity, place))
            }
        }
        self.indexes = indexes
        let (entityNumbers, linkNumbers) = (entityNumbers, linkNumbers)
        entityOrder = entityNumbers.indices.sorted { entityNumbers[$0] < entityNumbers[$1] }
        linkOrder = linkNumbers.indices.sorted { linkNumbers[$0] < linkNumbers[$1] }
        func beginning(_ index: KeyIndex) -> (UInt8, UInt32) { (index.space.rawValue, index.number) }
        indexOrder = indexes.indices.flatMap { entity in indexes[entity].indices.map { (entity, $0) } }
            .sorted { beginning(indexes[$0.0][$0.1]) < beginning(indexes[$1.0][$1.1]) }
    }

    /// Whether a snapshot shows the store that was opened.
    /// - Throws: `differentStoreAtURL` where it was emptied, or made anew, by somebody else; `corrupt` for an identity that cannot be read.
    func checkIdentity(_ snapshot: any EngineSnapshot) throws {
        let key = Keyspace.Metadata.identity.key()
        let found = try snapshot.get(key)
        if let found, found.elementsEqual(identity) { return }
        if found != nil, try SealedValue.get(key, snapshot) == nil {
            throw StoreError(.corrupt, "The store \(place) is damaged: its identity cannot be read.", url: place)
        }
        throw StoreError(
            .differentStoreAtURL,
            "The store \(place) was emptied and made anew since it was opened here, for another model or by another program. "
                + "Close it and open it again.", url: place)
    }

    func number(of entity: Entity) -> UInt32 { entityNumbers[entity.index] }
    func number(of table: LinkTable) -> UInt32 { linkNumbers[table.index] }
    func linkNumber(_ table: Int) -> UInt32 { linkNumbers[table] }

    /// Whether an entity is one of this store's, or like it in every respect.
    func check(_ entity: Entity) throws {
        guard entity.index < schema.entities.count,
            schema.entities[entity.index] === entity || schema.entities[entity.index].description == entity.description
        else {
            throw StoreError(
                .misuse, "\(entity.name) is not of the schema that \(place) was opened with.", entity: entity.name, url: place)
        }
    }
}

extension StoreLayout {
    /// Whether a change set is of this store's schema, or of one that is like it in every respect.
    func check(_ changes: ChangeSet) throws {
        guard changes.schema === schema || changes.schema.description.entities == schema.description.entities else {
            throw StoreError(.misuse, "The change set is of another schema than the one that \(place) was opened with.", url: place)
        }
    }
}

/// The names behind the numbers in keys, as the store keeps them. Numbers are given in the order of names, so that two stores of one model are
/// alike whatever the order in which entities were declared.
struct Catalog: Sendable {
    struct IndexName: Hashable, Sendable {
        let entity: UInt32
        let isUnique: Bool
        /// ``IndexState/name``.
        let name: String

        init(_ state: IndexState) {
            entity = state.entity
            isUnique = state.isUnique
            name = state.name
        }

        init(_ index: Index, _ entity: Entity, number: UInt32) {
            self.entity = number
            isUnique = index.isUnique
            name = IndexState.name(index, entity)
        }
    }

    private(set) var entities: [String: UInt32] = [:]
    private(set) var indexes: [IndexName: UInt32] = [:]
    private(set) var links: [String: UInt32] = [:]

    /// For a store that is made now.
    init(_ schema: ResolvedSchema) {
        for (number, entity) in schema.entities.sorted(by: { $0.name < $1.name }).enumerated() {
            entities[entity.name] = UInt32(number + 1)
            let names = entity.indexes.map { IndexName($0, entity, number: UInt32(number + 1)) }
            for name in names.sorted(by: { $0.name < $1.name }) { indexes[name] = UInt32(indexes.count + 1) }
        }
        for (number, table) in schema.links.sorted(by: { $0.name < $1.name }).enumerated() { links[table.name] = UInt32(number + 1) }
    }

    /// As the store keeps it.
    /// - Throws: `corrupt` for entries that cannot be.
    init(reading snapshot: any EngineSnapshot, place: String) throws {
        let damaged = StoreError(.corrupt, "The catalogue of \(place) is damaged.", url: place)
        try snapshot.forEach(.entity) { number, value in entities[String(decoding: value, as: UTF8.self)] = number }
        try snapshot.forEach(.link) { number, value in links[String(decoding: value, as: UTF8.self)] = number }
        try snapshot.forEach(.indexState) { number, value in
            guard let state = IndexState(value) else { throw damaged }
            indexes[IndexName(state)] = number
        }
    }

    func write(to writer: any EngineWriter) throws {
        for (name, number) in entities { try writer.put(Keyspace.Metadata.entity.key(number), Array(name.utf8)) }
        for (name, number) in links { try writer.put(Keyspace.Metadata.link.key(number), Array(name.utf8)) }
        for (index, number) in indexes {
            try writer.put(
                Keyspace.Metadata.indexState.key(number), IndexState(entity: index.entity, isUnique: index.isUnique, name: index.name).bytes
            )
        }
    }

    private func missing(_ what: String, _ place: String) -> StoreError {
        StoreError(.corrupt, "\(place) has no number for \(what); its catalogue is damaged.", url: place)
    }

    func number(of entity: Entity, _ place: String) throws -> UInt32 {
        guard let number = entities[entity.name] else { throw missing("the entity \(entity.name)", place) }
        return number
    }

    func number(of table: LinkTable, _ place: String) throws -> UInt32 {
        guard let number = links[table.name] else {
            if let shared = table.sharedName, links[shared] != nil { throw table.mixed(place) }
            throw missing("the relationship \(table.name)", place)
        }
        return number
    }

    func number(of index: Index, _ entity: Entity, _ place: String) throws -> UInt32 {
        guard let number = indexes[IndexName(index, entity, number: try number(of: entity, place))] else {
            throw missing("the index \(index.name)", place)
        }
        return number
    }
}

extension EngineSnapshot {
    /// Every numbered entry of a kind of metadata.
    func forEach(_ kind: Keyspace.Metadata, _ body: (UInt32, UnsafeRawBufferPointer) throws -> Void) throws {
        let cursor = try cursor()
        defer { cursor.close() }
        let prefix = [Keyspace.metadata.rawValue, kind.rawValue]
        try prefix.withUnsafeBytes { prefix in
            var more = try cursor.seek(prefix)
            while more, cursor.key.starts(with: prefix) {
                if let number: UInt32 = Number.read(UnsafeRawBufferPointer(rebasing: cursor.key[2...])) { try body(number, cursor.value) }
                more = try cursor.next()
            }
        }
    }
}
