import PolyStoreAttributes
import PolyStoreBackend
import PolyStoreConditions

/// Finds the stored properties in a key path of several steps: `\Person.department?.title` is `department`, then `title`.
///
/// One property, and the count of a to-many relationship, are in the table of the class. Of a path over to-one relationships, each step is compared with the key
/// paths in the tables, without evaluating the path. The path is evaluated only in two cases, on objects of a context without a store: if a step follows a
/// to-many relationship at its end, because `count` cannot be distinguished there from other `Int` properties, and in a hierarchy, because inherited properties
/// cannot be identified by their getters.
package final class KeyPathProbe: ContextContents {
    /// The number of objects in every to-many relationship.
    private var memberCount = 0
    private var members: [any Model] = []
    /// The stored properties that were read, in order.
    private var read: [String] = []
    /// The values of the objects; nil for the values of new objects.
    private var samples: KeyPathSamples?
    /// The number of values that each property failed to decode.
    private var attempts: [FieldReference: Int] = [:]

    private struct FieldReference: Hashable {
        let entityIndex: Int32
        let field: Int
    }

    /// Returns the path of a key path. What is in the table of the class is looked up; the steps of other paths are found once.
    /// - Throws: `invalidPredicate` if the path does not end exactly at a stored property, or at a property within a JSON attribute.
    package static func path<T: Model>(of path: PartialKeyPath<T>, _ context: Context, _ entry: StoreEntity) throws -> PropertyPath {
        if let keys = T._$properties.knownKeys(path) { return PropertyPath(keys) }
        // Names are the same for every stack.
        if let known = known.withLock({ $0[Key(path: path)] }) { return known }
        if let name = T._$properties.unstoredName(path) {
            let what = "\(T._$entityName).\(name)"
            throw StoreError(
                .invalidPredicate, "\(what) cannot be used in a query: it is computed or not stored. \(wayOut)", entity: T._$entityName,
                attribute: name)
        }
        var type: AttributeType?
        let found = PropertyPath(try found(path, context, entry, &type), type: type)
        known.withLock { $0[Key(path: path)] = found }
        return found
    }

    private static let wayOut =
        "Only stored attributes and relationships can. Use the stored attribute itself, or a closure of columns or a format string for a derived value: "
        + "{ $0.age + 10 > 15 }, \"name ==[c] 'x'\"."

    /// - Parameter type: receives the type of a property within a JSON attribute.
    private static func found<T: Model>(_ path: PartialKeyPath<T>, _ context: Context, _ root: StoreEntity, _ type: inout AttributeType?)
        throws
        -> [String]
    {
        var keys: [String] = []
        var entry = root
        func refused(_ why: String) -> StoreError {
            let name = ([T._$entityName] + keys).joined(separator: ".")
            return StoreError(
                .invalidPredicate,
                "A key path of \(T._$entityName) to \(Swift.type(of: path).valueType) cannot be used in a query: \(why) \(name). \(wayOut)",
                entity: T._$entityName, attribute: keys.last)
        }
        guard let steps = KeyPathSteps(path)?.names else { throw refused("this program's key paths do not describe their steps from") }
        guard !steps.isEmpty else { throw refused("it has no step from") }
        for (index, step) in steps.enumerated() {
            let found = entry.types.flatMap { Self.stored(step, $0) }
            guard Set(found.map(\.name)).count <= 1 else {
                throw refused("the linker has merged properties that step \(index + 1) may be, of")
            }
            guard let (property, key) = found.first else {
                // The getters of inherited properties cannot be identified by their addresses.
                if entry.hierarchy != nil, steps.count > 1, let keys = followed(path, steps.count, context, root) { return keys }
                throw refused("step \(index + 1) is not a stored property of")
            }
            keys.append(key)
            let rest = steps.count - index - 1
            guard let relationship = entry.entity.relationship(named: key) else {
                guard rest > 0 else { return keys }
                guard entry.entity.field(named: key)?.type == .json else { throw refused("it continues after the attribute") }
                let steps = steps[(index + 1)...]
                type = try JSONShape.type(of: steps, in: Swift.type(of: property).valueType, endingAt: Swift.type(of: path).valueType)
                return keys + steps
            }
            if relationship.isToMany {
                if rest == 0 { return keys }
                guard rest == 1, isCount(path, context, root) else {
                    throw refused("only the count of its objects can follow the to-many relationship")
                }
                return keys + ["@count"]
            }
            entry = context.entry(entry.destinations[relationship.index])
        }
        return keys
    }

    /// Returns the properties that a path over a hierarchy reads, by evaluating it on objects without a store.
    /// - Returns: nil if their number differs from the number of steps, or the type of the last one differs from that of the path.
    private static func followed<T: Model>(
        _ path: PartialKeyPath<T>, _ count: Int, _ context: Context, _ root: StoreEntity
    ) -> [String]? {
        let probe = KeyPathProbe()
        probe.samples = KeyPathSamples(content: .first)
        let object: T = probe.root(T.self, context, root)
        withExtendedLifetime((object, object[keyPath: path])) {}
        let type = type(of: path).valueType
        var entry = root
        for (index, key) in probe.read.enumerated() {
            let isLast = index == probe.read.count - 1
            if let relationship = entry.entity.relationship(named: key) {
                if relationship.isToMany {
                    guard isLast else { return nil }
                    if probe.read.count == count, !(type is Int.Type) { return probe.read }
                    return probe.read.count == count - 1 && isCount(path, context, root) ? probe.read + ["@count"] : nil
                }
                entry = context.entry(entry.destinations[relationship.index])
            } else {
                guard isLast, let field = entry.entity.field(named: key) else { return nil }
                if let stored = (type as? any AttributeValue.Type)?.attributeType, stored != field.type { return nil }
            }
        }
        guard probe.read.count == count, isStored(path, probe.read, context, root) else { return nil }
        return probe.read
    }

    /// Returns whether a path returns the stored value of its last property for all sample values, and nil if an earlier relationship is null.
    private static func isStored<T: Model>(_ path: PartialKeyPath<T>, _ keys: [String], _ context: Context, _ root: StoreEntity) -> Bool {
        func agrees(_ samples: KeyPathSamples) -> Bool {
            let probe = KeyPathProbe()
            probe.samples = samples
            let object: T = probe.root(T.self, context, root)
            let found = object[keyPath: path] as Any
            var last = root
            for key in keys.dropLast() {
                guard let relationship = last.entity.relationship(named: key) else { return false }
                last = context.entry(last.destinations[relationship.index])
            }
            let wanted = samples.end.map { Array(keys.prefix($0 + 1)) } ?? keys
            guard probe.read == wanted else { return false }
            if samples.end != nil { return KeyPathSamples.isSame(found, .null) }
            guard let field = last.entity.field(named: keys[keys.count - 1]), field.relationship == nil else { return true }
            return KeyPathSamples.isSame(found, probe.value(field, last.entityIndex, samples))
        }
        // A path with forced unwrapping cannot be evaluated for a missing value.
        let isForced = path.debugDescription.contains("!")
        let contents = KeyPathSamples.Content.allCases.filter { !isForced || $0 != .missing }
        guard contents.allSatisfy({ agrees(KeyPathSamples(content: $0)) }) else { return false }
        return isForced || (0..<keys.count - 1).allSatisfy { agrees(KeyPathSamples(content: .first, end: $0)) }
    }

    /// Returns the properties whose own key path equals a step: several if the linker has merged equal getters.
    private static func stored(_ step: String, _ type: any Model.Type) -> [(path: AnyKeyPath, name: String)] {
        func open<M: Model>(_ type: M.Type) -> [(path: AnyKeyPath, name: String)] {
            M._$properties.names.filter { KeyPathSteps($0.path)?.names == [step] }
        }
        return open(type)
    }

    /// Returns whether the last step of a path is the count of the to-many relationship before it.
    private static func isCount<T: Model>(_ path: PartialKeyPath<T>, _ context: Context, _ entry: StoreEntity) -> Bool {
        [2, 5, 11].allSatisfy { count in
            let probe = KeyPathProbe()
            probe.memberCount = count
            defer { probe.members = [] }
            let object: T = probe.root(T.self, context, entry)
            return object[keyPath: path] as? Int == count
        }
    }

    private struct Key: Hashable, @unchecked Sendable {  // key paths of stored properties hold no state
        let path: AnyKeyPath
    }
    private static let known = Protected<[Key: PropertyPath]>([:])

    /// Returns an object at the beginning of a path, in a context without a store.
    private func root<T: Model>(_ type: T.Type, _ context: Context, _ entry: StoreEntity) -> T {
        Context(core: context.core, table: context.table, context.site, contents: self).object(type, entry.entityIndex, 1)
    }

    func fill(_ object: some Model, _ field: Int, in context: Context) {
        let entity = context.entry(object._$state.entityIndex).entity
        if entity.fields.indices.contains(field) { read.append(entity.fields[field].name) }
        if let samples { load(samples, into: object, context.entry(object._$state.entityIndex)) }
        // Every to-one relationship has a destination, except the one at `samples.end`.
        let target = samples.flatMap(\.end).map { $0 == read.count - 1 } ?? false ? ToOne.none : ToOne(rowID: 1)
        for field in entity.fields { if let relationship = field.relationship { object._$setToOne(relationship, target) } }
    }

    /// Sets the values of a sample, or those of a new object for properties that cannot decode them.
    private func load(_ samples: KeyPathSamples, into object: some Model, _ entry: StoreEntity) {
        for _ in 0...entry.entity.fields.count * KeyPathSamples.attempts {
            let arena = RecordArena(capacity: 512)
            var builder = RecordBuilder(arena)
            builder.begin(entry.entity.layout)
            do {
                for field in entry.entity.fields where field.relationship == nil && !field.isHidden {
                    try builder.set(field, value(field, entry.entityIndex, samples))
                }
                return try object._$load(builder.finishedView())
            } catch {
                // The decoding error identifies the field by its index.
                guard let field = (error as? StoreError)?.fieldIndex else { return }
                attempts[FieldReference(entityIndex: entry.entityIndex, field: field), default: 0] += 1
            }
        }
    }

    private func value(_ field: Field, _ entityIndex: Int32, _ samples: KeyPathSamples) -> Value {
        samples.value(field, attempt: attempts[FieldReference(entityIndex: entityIndex, field: field.index)] ?? 0)
    }

    /// Returns a new object of a class in the path. All its objects are equivalent, so the row id does not matter.
    func makeObject<T: Model>(_ type: T.Type, _ map: IdentityMap, _ rowID: Int64) -> T {
        let object = T(_$state: ModelState(map, rowID: rowID, flags: .fault))
        map.insert(rowID, object)
        return object
    }

    func members(_ key: RelationshipKey, in context: Context) -> Context.MemberSource {
        read.append(context.entry(key.entityIndex).entity.relationships[Int(key.relationship)].name)
        let entityIndex = context.destination(key.entityIndex, Int(key.relationship))
        let declared = context.entry(key.entityIndex).destinationNames[Int(key.relationship)]
        func make<M: Model>(_ type: M.Type, _ rowID: Int64) {
            let object = M(_$state: ModelState(context.identityMap(entityIndex), rowID: rowID))
            context.identityMap(entityIndex).insert(rowID, object)
            members.append(object)
        }
        let rowIDs = (0..<memberCount).map { Int64($0) + 2 }
        let entry = context.entry(entityIndex)
        let type = entry.types.first { $0._$entityName == declared } ?? entry.type
        for rowID in rowIDs { make(type, rowID) }
        return .known(rowIDs)
    }
}

extension Context {
    /// Returns the value of a key path.
    final func expression<T: Model>(_ path: PartialKeyPath<T>, _ entry: StoreEntity) throws -> QueryExpression {
        if let field = T._$properties.knownField(path) { return .field(field) }
        if let name = T._$properties.emptiness(path) {
            return try PropertyPath([name, "@count"]).isZero(for: entry.entity, in: entry.store.schema)
        }
        return try KeyPathProbe.path(of: path, self, entry).expression(for: entry.entity, in: entry.store.schema)
    }
}
