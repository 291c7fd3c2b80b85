import PolyStoreBackend
import PolyStoreKernel
import PolyStoreQuery

/// Reads the targets of relationships of the new version from the old store.
struct LinkReader {
    /// An object of the old version.
    struct Target: Hashable {
        let entity: Int
        let rowID: Int64
    }

    let origins: LinkOrigins
    let schema: ResolvedSchema
    let source: any ReadTransaction

    /// The maximum number of row ids in the condition of one fetch.
    private static let fetched = 500

    /// Returns the targets that remain in the new version: a to-one end has at most one, and both ends agree.
    ///
    /// If an object has several candidates and may have one, that of its own relationship remains, and otherwise the one with the lowest row id.
    func targets(_ origin: LinkOrigin, _ ids: [Int64]) throws -> [Int64: [Target]] {
        var found = try candidates(origin, ids)
        if !origin.relationship.isToMany { found = found.mapValues { Array($0.prefix(1)) } }
        guard let inverse = origins.inverse(origin.relationship), !inverse.isToMany else { return found }
        var far: [Int: Set<Int64>] = [:]
        for target in found.values.joined() { far[target.entity, default: []].insert(target.rowID) }
        var chosen: [Target: Target] = [:]
        for (entity, ids) in far {
            guard let other = origins.inverseOrigin(origin.relationship, of: entity), !other.isSingle(schema) else { continue }
            for (id, back) in try choices(other, ids.sorted()) { chosen[Target(entity: entity, rowID: id)] = back }
        }
        guard !chosen.isEmpty else { return found }
        for id in found.keys {
            let near = Target(entity: origin.source.index, rowID: id)
            found[id]?.removeAll { target in chosen[target].map { $0 != near } ?? false }
        }
        return found
    }

    /// Returns the targets that either end of the relationship had in the old version.
    ///
    /// The order is that of the object's own relationship, if it is ordered or the new relationship leads to one object; the objects that only the other end names
    /// follow by row id. Otherwise the order is that of the row ids.
    /// - Parameter includesExcluded: Includes objects whose classes do not have the relationship, or its inverse, in the new version.
    func candidates(_ origin: LinkOrigin, _ ids: [Int64], includesExcluded: Bool = false) throws -> [Int64: [Target]] {
        let ids = includesExcluded ? ids : try included(origin, ids)
        var found: [Int64: [Target]] = [:]
        // A store contains each pair of a relationship once, so a single part has no duplicates.
        var known: [Int64: Set<Target>] = [:]
        for part in origin.parts {
            let entity = schema.entities[part.far]
            let classes = farClasses(origin, part, includesExcluded: includesExcluded)
            let targets = try targets(part, ids)
            let left = classes.isEmpty ? [] : try objects(entity, Set(targets.values.joined()).sorted(), of: classes)
            for (id, list) in targets {
                for target in list where left.isEmpty || !left.contains(target) {
                    let next = Target(entity: part.far, rowID: target)
                    if origin.parts.count == 1 || known[id, default: []].insert(next).inserted { found[id, default: []].append(next) }
                }
            }
        }
        // The order of an unordered relationship is that of the row ids.
        if origin.parts.count > 1, origin.relationship.isToMany, !(origin.own?.isOrdered ?? false) {
            return found.mapValues { $0.sorted { ($0.entity, $0.rowID) < ($1.entity, $1.rowID) } }
        }
        return found
    }

    /// Returns the first candidate of each object that has one; see ``candidates(_:_:includesExcluded:)``. The relationship must lead to at most one object.
    ///
    /// Many objects can lead to one, and every batch that contains some of them needs its choice.
    private func choices(_ origin: LinkOrigin, _ ids: [Int64]) throws -> [Int64: Target] {
        let choices = origins.choices
        choices.begin(try source.version)
        var found: [Int64: Target] = [:]
        var unknown: [Int64] = []
        for id in ids {
            if let known = choices[origin, id] { found[id] = known.target } else { unknown.append(id) }
        }
        guard !unknown.isEmpty else { return found }
        let first = try firstCandidates(origin, unknown)
        for id in unknown { choices.add(first[id], origin, id) }
        return found.merging(first) { $1 }
    }

    private func firstCandidates(_ origin: LinkOrigin, _ ids: [Int64]) throws -> [Int64: Target] {
        var left = try included(origin, ids)
        var found: [Int64: Target] = [:]
        for part in origin.parts where !left.isEmpty {
            let first = try firstTargets(part, left, without: farClasses(origin, part))
            for (id, target) in first { found[id] = Target(entity: part.far, rowID: target) }
            left.removeAll { first[$0] != nil }
        }
        return found
    }

    private func firstTargets(_ part: LinkOrigin.Part, _ ids: [Int64], without classes: Set<String>) throws -> [Int64: Int64] {
        let entity = schema.entities[part.far]
        if let (field, position) = reference(part), !part.leadsToOne(schema) {
            var predicates: [QueryPredicate] = []
            if !classes.isEmpty {
                guard let classifier = entity.classifierField else {
                    // All objects of the entity belong to one class.
                    return classes.contains(entity.name) ? [:] : try firstTargets(part, ids, without: [])
                }
                predicates.append(.not(.oneOf(FieldReference(entity.fields[classifier]), classes.sorted().map { .text($0) })))
            }
            let keys = position.map { [SortKey(FieldReference(entity.fields[$0]))] } ?? []
            var found: [Int64: Int64] = [:]
            for id in ids {
                let isTarget = QueryPredicate.compare(FieldReference(entity.fields[field]), .equal, .integer(id))
                let request = FetchRequest(entity, predicate: .and([isTarget] + predicates), sortKeys: keys, limit: 1, onlyIDs: true)
                let cursor = try source.fetch(request)
                defer { cursor.close() }
                if try cursor.next() { found[id] = cursor.rowID }
            }
            return found
        }
        let targets = try targets(part, ids)
        let left = classes.isEmpty ? [] : try objects(entity, Set(targets.values.joined()).sorted(), of: classes)
        return targets.compactMapValues { list in list.first { !left.contains($0) } }
    }

    /// Returns the field of the objects at the other end that refers to the objects, and the field with their position; `nil` if the store has no such field.
    private func reference(_ part: LinkOrigin.Part) -> (field: Int, position: Int?)? {
        var relationship = part.relationship
        if part.isBackward {
            guard let inverse = relationship.inverse else {
                guard case .foreignKey(let field) = relationship.storage else { return nil }
                return (field, nil)
            }
            relationship = schema.entities[relationship.destination].relationships[inverse]
        }
        guard case .inverse(let field) = relationship.storage else { return nil }
        return (field, relationship.positionField)
    }

    /// Returns the objects that have the relationship in the new version.
    private func included(_ origin: LinkOrigin, _ ids: [Int64]) throws -> [Int64] {
        guard !origin.excluded.isEmpty else { return ids }
        let excluded = try objects(origin.source, ids, of: origin.excluded)
        return excluded.isEmpty ? ids : ids.filter { !excluded.contains($0) }
    }

    /// Returns the classes of the objects at the other end that are not targets in the new version.
    private func farClasses(_ origin: LinkOrigin, _ part: LinkOrigin.Part, includesExcluded: Bool = false) -> Set<String> {
        let removed = origin.farRemoved[part.far] ?? []
        return includesExcluded ? removed : removed.union(origin.farExcluded[part.far] ?? [])
    }

    /// Returns those of the given objects that belong to one of the classes. An object that is missing belongs to none, unless the entity has no classes.
    private func objects(_ entity: Entity, _ ids: [Int64], of classes: Set<String>) throws -> Set<Int64> {
        guard let classifier = entity.classifierField else { return classes.contains(entity.name) ? Set(ids) : [] }
        var found: Set<Int64> = []
        try forEachRecord(entity, ids, field: classifier) { id, record in
            if classes.contains(record.string(classifier)) { found.insert(id) }
        }
        return found
    }

    /// Calls a closure with the records that contain one field of the given objects, in any order.
    private func forEachRecord(_ entity: Entity, _ ids: [Int64], field: Int, _ body: (Int64, RecordView) -> Void) throws {
        var mask = FieldMask()
        mask.insert(field)
        for start in stride(from: 0, to: ids.count, by: Self.fetched) {
            let values = ids[start..<min(start + Self.fetched, ids.count)].map { Value.integer($0) }
            let cursor = try source.fetch(FetchRequest(entity, predicate: .oneOf(.objectID, values), fields: mask))
            defer { cursor.close() }
            while try cursor.next() { body(cursor.rowID, cursor.record) }
        }
    }

    private func targets(_ part: LinkOrigin.Part, _ ids: [Int64]) throws -> [Int64: [Int64]] {
        guard part.isBackward else { return try forward(part.relationship, ids) }
        let relationship = part.relationship
        if let inverse = relationship.inverse {
            return try forward(schema.entities[relationship.destination].relationships[inverse], ids)
        }
        if let reversed = relationship.reversed { return try forward(reversed, ids) }
        return try sources(relationship, ids)
    }

    private func forward(_ relationship: Relationship, _ ids: [Int64]) throws -> [Int64: [Int64]] {
        var found: [Int64: [Int64]] = [:]
        if case .foreignKey(let field) = relationship.storage {
            let entity = schema.entities[relationship.source]
            try forEachRecord(entity, ids, field: field) { id, record in
                if !record.isNull(field) { found[id] = [record.integer64(field)] }
            }
        } else {
            let related = try source.related(relationship, of: ids)
            for id in ids where !related[id].isEmpty { found[id] = related[id] }
        }
        return found
    }

    /// Returns the objects whose to-one relationship without an inverse leads to objects, by row id.
    private func sources(_ relationship: Relationship, _ ids: [Int64]) throws -> [Int64: [Int64]] {
        guard case .foreignKey(let field) = relationship.storage else { return [:] }
        let entity = schema.entities[relationship.source]
        var mask = FieldMask()
        mask.insert(field)
        var found: [Int64: [Int64]] = [:]
        for start in stride(from: 0, to: ids.count, by: Self.fetched) {
            let values = ids[start..<min(start + Self.fetched, ids.count)].map { Value.integer($0) }
            var request = FetchRequest(entity, predicate: .oneOf(FieldReference(entity.fields[field]), values))
            request.fields = mask
            let cursor = try source.fetch(request)
            defer { cursor.close() }
            while try cursor.next() { found[cursor.record.integer64(field), default: []].append(cursor.rowID) }
        }
        return found.mapValues { $0.sorted() }
    }
}

/// The first candidates of objects to which many others can lead. Bounded, because a store can have any number of such objects.
final class LinkChoices {
    private struct Key: Hashable {
        let entity: Int
        let relationship: Int
        let source: Int
        let rowID: Int64
    }

    /// A candidate, or that there is none.
    struct Choice {
        let target: LinkReader.Target?
    }

    private static let most = 10_000

    private var choices: [Key: Choice] = [:]
    private var version: UInt64?

    /// Forgets the choices in another version of the store.
    func begin(_ version: UInt64) {
        guard version != self.version else { return }
        choices = [:]
        self.version = version
    }

    subscript(_ origin: LinkOrigin, _ id: Int64) -> Choice? { choices[key(origin, id)] }

    func add(_ target: LinkReader.Target?, _ origin: LinkOrigin, _ id: Int64) {
        if choices.count >= Self.most { choices.removeAll(keepingCapacity: true) }
        choices[key(origin, id)] = Choice(target: target)
    }

    private func key(_ origin: LinkOrigin, _ id: Int64) -> Key {
        Key(
            entity: origin.relationship.source, relationship: origin.relationship.index, source: origin.source.index, rowID: id)
    }
}
