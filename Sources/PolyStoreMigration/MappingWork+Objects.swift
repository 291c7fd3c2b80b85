import Foundation
import PolyStoreBackend
import PolyStoreKernel
import PolyStoreQuery

// Copies of objects that a migration does not change in code, in batches.
extension MappingWork {
    func run(_ route: MigrationPlan.Route) throws {
        let context = MigrationContext(self)
        let copiers = route.matches.map(copier)
        while true {
            let count = try migrateBatch(route, context, copiers)
            if count == 0 { return }
            try finishBatch()
            try progress(count, route.source.name)
            try save()
        }
    }

    /// Migrates the next objects of a route. The cursor is closed before the batch is saved, because an open cursor prevents some engines from reclaiming
    /// space.
    ///
    /// - Returns: The number of objects.
    private func migrateBatch(_ route: MigrationPlan.Route, _ context: MigrationContext, _ copiers: [RecordCopier]) throws -> Int {
        var request = FetchRequest(route.source, limit: Self.batchSize)
        if position.rowID > .min { request.predicate = .compare(.objectID, .greater, .integer(position.rowID)) }
        let chosen = try route.transform == nil ? copiers.map { try links($0, route.source, request) } : []
        let cursor = try source.fetch(request)
        defer { cursor.close() }
        let changes = ChangeSet(plan.target)
        var count = 0
        while changes.byteCount < Self.batchBytes, try cursor.next() {
            if let transform = route.transform {
                // The check has reported the objects of removed classes.
                let isRemoved = route.skipsRemovedClasses && !copiers.contains { $0.keeps(cursor.record) }
                if !isRemoved { try transform(OldObject(route.source, cursor.rowID, cursor.record, self), context) }
                try checkFailure()
            } else {
                for (copier, targets) in zip(copiers, chosen) where copier.keeps(cursor.record) {
                    try insert(cursor, route.source, copier, targets[cursor.rowID] ?? [:], changes)
                }
            }
            count += 1
            position.rowID = cursor.rowID
        }
        try apply(changes)
        return count
    }

    func copier(_ match: EntityMatch) -> RecordCopier {
        let key = [match.source.index, match.target.index]
        if let known = copiers[key] { return known }
        let copier = RecordCopier(match, offset: offset)
        copiers[key] = copier
        return copier
    }

    /// Returns the targets of the to-one relationships that are determined for each object, by row id and relationship index.
    func links(_ copier: RecordCopier, _ source: Entity, _ request: FetchRequest) throws -> [Int64: [Int: Int64]] {
        guard !copier.links.isEmpty else { return [:] }
        var request = request
        request.onlyIDs = true
        let cursor = try self.source.fetch(request)
        var ids: [Int64] = []
        do {
            defer { cursor.close() }
            while try cursor.next() { ids.append(cursor.rowID) }
        }
        return try links(copier, source, ids)
    }

    func links(_ copier: RecordCopier, _ source: Entity, _ ids: [Int64]) throws -> [Int64: [Int: Int64]] {
        var found: [Int64: [Int: Int64]] = [:]
        for relationship in copier.links {
            guard let origin = plan.origins.origin(relationship, of: source.index) else { continue }
            for (id, targets) in try linkReader.targets(origin, ids) {
                guard let target = targets.first else { continue }
                found[id, default: [:]][relationship.index] = target.rowID &+ offset(target.entity, relationship.destination)
            }
        }
        return found
    }

    var linkReader: LinkReader { LinkReader(origins: plan.origins, schema: plan.source, source: source) }

    func insert(
        _ cursor: RecordCursor, _ source: Entity, _ copier: RecordCopier, _ links: [Int: Int64], _ changes: ChangeSet
    ) throws {
        let id = cursor.rowID &+ copier.offset
        if let missing = copier.missingAttribute { throw self.missing(missing, copier.target, id) }
        try changes.insert(copier.target, rowID: id) { try copier.copy(cursor.record, source, links: links, into: &$0) }
        if let change = changes.changes.last { try checkRules(copier.target, id, changes.record(change)) }
        position.rewritten += 1
    }

    func missing(_ field: Field, _ entity: Entity, _ id: Int64) -> StoreError {
        StoreError(
            .constraint,
            "\(entity.name).\(field.name) must have a value, and \(described(entity, id)) has none. Give the attribute a default, make it optional, or set it in a schema mapping.",
            entity: entity.name, attribute: field.name, rowID: id)
    }

    /// Returns an object of the new version in words, for errors. The caller knows the row ids of the old version: not those of objects that a mapping inserts, and
    /// not those of objects that became objects of another entity.
    func described(_ entity: Entity, _ id: Int64) -> String {
        let routes = plan.routes.filter { $0.match(entity.index) != nil }
        for route in routes {
            let old = id &- offset(route.source.index, entity.index)
            guard old > 0, (try? source.record(route.source, rowID: old)) ?? nil != nil else { continue }
            return old == id ? "object \(id)" : "the object made of \(route.source.name) \(old)"
        }
        return routes.isEmpty ? "object \(id)" : "a new object"
    }

    func checkRules(_ entity: Entity, _ id: Int64, _ record: RecordView) throws {
        guard let evaluator = evaluators[entity.index], let finding = try evaluator.findings(id, record, evaluator.fields).first else {
            return
        }
        throw StoreError(
            .constraint, "\(entity.name).\(finding.field.name) of \(described(entity, id)) \(finding.message).", entity: entity.name,
            attribute: finding.field.name, rowID: id)
    }
}
