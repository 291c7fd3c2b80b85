import PolyStoreBackend
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
            for (id, back) in try candidates(other, ids.sorted()) { chosen[Target(entity: entity, rowID: id)] = back.first }
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
        var ids = ids
        if !includesExcluded, !origin.excluded.isEmpty { ids = try ids.filter { try !isOf(origin.source, $0, origin.excluded) } }
        var found: [Int64: [Target]] = [:]
        for part in origin.parts {
            let entity = schema.entities[part.far]
            var classes = origin.farRemoved[part.far] ?? []
            if !includesExcluded { classes.formUnion(origin.farExcluded[part.far] ?? []) }
            for (id, targets) in try targets(part, ids) {
                for target in targets {
                    if !classes.isEmpty, try isOf(entity, target, classes) { continue }
                    let next = Target(entity: part.far, rowID: target)
                    // A store contains each pair of a relationship once.
                    if origin.parts.count == 1 || !(found[id]?.contains(next) ?? false) { found[id, default: []].append(next) }
                }
            }
        }
        // The order of an unordered relationship is that of the row ids.
        if origin.parts.count > 1, origin.relationship.isToMany, !(origin.own?.isOrdered ?? false) {
            return found.mapValues { $0.sorted { ($0.entity, $0.rowID) < ($1.entity, $1.rowID) } }
        }
        return found
    }

    private func isOf(_ entity: Entity, _ id: Int64, _ classes: Set<String>) throws -> Bool {
        guard let classifier = entity.classifierField else { return classes.contains(entity.name) }
        guard let record = try source.record(entity, rowID: id) else { return false }
        return classes.contains(record.string(classifier))
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
            for id in ids {
                guard let record = try source.record(entity, rowID: id), !record.isNull(field) else { continue }
                found[id] = [record.integer64(field)]
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
