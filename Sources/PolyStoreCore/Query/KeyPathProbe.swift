import PolyStoreBackend

/// Finds out which properties a key path of several steps goes over, by letting it read an object that only takes notes.
///
/// Swift tells nothing about the steps of a key path, but it reads them one after the other: `\Person.department?.title` asks a person for its
/// department and that for its title. Here both are faults of a context without any store, which tells each of them to answer and
/// remembers who was asked for what.
final class KeyPathProbe: Context {
    private var keys: [String] = []
    private var hasEnded = false

    /// The keys that a path goes over.
    /// - Throws: `invalidPredicate` where it goes over something that is not stored.
    static func keys<T: Model>(of path: PartialKeyPath<T>, _ context: Context, _ entry: StoreEntity) throws -> [String] {
        // Names do not depend on the stack.
        if let known = known.withLock({ $0[Key(path: path)] }) { return known }
        let probe = KeyPathProbe(core: context.core, table: context.table, context.site)
        let object: T = probe.object(T.self, entry.slot, 1)
        let value = object[keyPath: path]
        let keys = try probe.checked(path, type(of: path).valueType, entry)
        withExtendedLifetime(value) {}
        known.withLock { $0[Key(path: path)] = keys }
        return keys
    }

    private struct Key: Hashable, @unchecked Sendable {  // key paths of stored properties hold no state
        let path: AnyKeyPath
    }
    private static let known = Protected<[Key: [String]]>([:])

    override func fire(_ object: some Model, _ field: Int) {
        let entity = entry(object._$state.slot).entity
        guard entity.fields.indices.contains(field) else {
            hasEnded = true
            return
        }
        note(entity.fields[field].name)
        // Leads to somebody: to a new object that takes notes too.
        if let relationship = entity.fields[field].relationship { object._$setToOne(relationship, ToOne(id: 1)) }
    }

    /// Of any class that a path goes over; nobody asks of which it is.
    override func note<T: Model>(_ type: T.Type, _ map: IdentityMap, _ key: Int64) -> T? {
        let object = T(_$state: ModelState(map, key: key, flags: .fault))
        map.insert(key, object)
        return object
    }

    override func memberSource(_ key: MemberKey, isInserted: Bool) throws -> MemberSource {
        note(entry(key.slot).entity.relationships[Int(key.relationship)].name)
        return .known([])
    }

    private func note(_ key: String) { keys.append(key) }

    private func checked(_ path: AnyKeyPath, _ type: Any.Type, _ entry: StoreEntity) throws -> [String] {
        func refused(_ why: String) -> StoreError {
            StoreError(.invalidPredicate, "\(path) cannot be asked about: \(why).", entity: entry.entity.name)
        }
        guard !keys.isEmpty, !hasEnded else { throw refused("it goes over something that is not stored") }
        var entity = entry.entity
        for (place, key) in keys.enumerated() {
            let isLast = place == keys.count - 1
            if let relationship = entity.relationship(named: key) {
                guard !relationship.isToMany || isLast else { throw refused("\(key) leads to many objects") }
                if relationship.isToMany, type is Int.Type { return keys + ["@count"] }
                entity = entry.store.schema.entities[relationship.destination]
            } else if let field = entity.field(named: key) {
                guard isLast else { throw refused("more than one attribute is read") }
                guard let stored = (type as? any AttributeValue.Type)?.attributeType, stored == field.type else {
                    if type is any AttributeValue.Type { throw refused("it goes on behind the attribute \(key)") }
                    break
                }
            } else {
                throw refused("\(entity.name) has no \(key)")
            }
        }
        return keys
    }
}

extension Context {
    /// What a key path leads to.
    final func expression<T: Model>(_ path: PartialKeyPath<T>, _ entry: StoreEntity) throws -> QueryExpression {
        if let field = T._$properties.knownField(path) { return .field(field) }
        let keys = try T._$properties.knownRelationship(path).map { [$0] } ?? KeyPathProbe.keys(of: path, self, entry)
        return try PropertyPath(keys).expression(for: entry.entity, in: entry.store.schema)
    }
}
