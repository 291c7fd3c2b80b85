import Foundation
import PolyStoreBackend
import PolyStoreKernel
import PolyStoreQuery

/// The part of a migration step that reads and writes single objects.
///
/// It runs in phases, each over one entity or link table in ascending order of row ids, and in batches. The position of each batch is saved with it.
final class MappingWork {
    /// The position at which a later attempt resumes.
    struct Position: Codable {
        var phase = 0
        /// The last migrated row id of the current phase.
        var rowID = Int64.min
        /// The offsets to add to row ids, by `source:target` entity index.
        var offsets: [String: Int64] = [:]
        var rewritten = 0
    }

    private enum Phase {
        case before
        case route(Int)
        case links(Int)
        case positions(Int)
        case repair(Int)
        case after
        case validate(Int)
    }

    private struct Key: Hashable {
        let entity: Int
        let id: Int64
    }

    let plan: MigrationPlan
    let migration: any StoreMigration
    /// Called with the number of objects that were read, and the current activity; throws to end the migration.
    let progress: (Int, String) throws -> Void
    var source: any ReadTransaction { migration.source }
    var position = Position()
    /// The new objects that the mapping created or read in this batch.
    private var pending: [Key: NewObject] = [:]
    /// The pending objects with unwritten changes. A lookup writes only these, so its cost does not depend on the size of the batch.
    private var unwritten: [NewObject] = []
    private var objectCount = 0
    private var links: [ChangeSet.LinkChange] = []
    /// The next position in ordered relationships, by relationship and row id.
    private var nextPositions: [[Int64]: Int64] = [:]
    private var failure: (any Error)?
    /// The evaluators of attribute rules, by target entity index.
    private var evaluators: [Int: RuleEvaluator] = [:]
    private var copiers: [[Int]: RecordCopier] = [:]

    /// The maximum number of objects per batch.
    static let batchSize = 2_000
    private static let batchBytes = 4 << 20

    init(_ plan: MigrationPlan, _ migration: any StoreMigration, progress: @escaping (Int, String) throws -> Void) throws {
        self.plan = plan
        self.migration = migration
        self.progress = progress
        for entity in plan.target.entities where RuleEvaluator.isNeeded(entity) { evaluators[entity.index] = try RuleEvaluator(entity) }
        if let saved = migration.savedPosition {
            guard let position = try? JSONDecoder().decode(Position.self, from: Data(saved)) else {
                throw StoreError(.corrupt, "The position of an interrupted migration cannot be read.")
            }
            self.position = position
        } else {
            try reserveOffsets()
        }
    }

    /// The number of objects whose records were rewritten.
    var rewrittenObjects: Int { position.rewritten }

    /// Returns the number of objects that an interrupted attempt has migrated.
    func resumedObjects() throws -> Int {
        var count = 0
        for (index, phase) in phases.prefix(position.phase + 1).enumerated() {
            guard case .route(let route) = phase else { continue }
            var request = FetchRequest(plan.routes[route].source)
            if index == position.phase {
                guard position.rowID > .min else { continue }
                request.predicate = .compare(.objectID, .lessOrEqual, .integer(position.rowID))
            }
            count += try source.count(request)
        }
        return count
    }

    // MARK: Phases

    private var phases: [Phase] {
        var phases: [Phase] = plan.mapping?.before == nil ? [] : [.before]
        phases += plan.routes.indices.map { .route($0) }
        phases += plan.links.indices.map { .links($0) }
        phases += plan.positions.indices.map { .positions($0) }
        phases += plan.mapping?.after == nil ? [] : [.after]
        phases += plan.repairs.map { .repair($0) }
        return phases + plan.validated.map { .validate($0) }
    }

    /// Runs all phases, or the remaining phases of an interrupted attempt.
    func run() throws {
        let phases = phases
        while position.phase < phases.count {
            try run(phases[position.phase])
            try finishBatch()
            position.phase += 1
            position.rowID = .min
            try save()
        }
    }

    private func run(_ phase: Phase) throws {
        switch phase {
        case .before: try plan.mapping?.before.map { try call($0) }
        case .after: try plan.mapping?.after.map { try call($0) }
        case .route(let index): try run(plan.routes[index])
        case .links(let index): try fill(plan.links[index])
        case .positions(let index): try writePositions(plan.positions[index])
        case .repair(let index): try repair(plan.target.entities[index])
        case .validate(let index): try validate(plan.target.entities[index])
        }
    }

    private func call(_ hook: (MigrationContext) throws -> Void) throws {
        try hook(MigrationContext(self))
        try checkFailure()
    }

    func save() throws {
        try migration.save(Array(try JSONEncoder().encode(position)))
    }

    /// - Throws: ``CarriedChange`` if the changes concern entities or link tables that the backend carries over.
    func apply(_ changes: ChangeSet) throws {
        if changes.isEmpty { return }
        var carried = CarriedChange()
        for part in changes.changes { if case .carried = plan.change.entities[part.entity] { carried.entities.insert(part.entity) } }
        for part in changes.links { if case .carried = plan.change.links[part.table] { carried.tables.insert(part.table) } }
        guard carried.entities.isEmpty, carried.tables.isEmpty else { throw carried }
        try migration.target.apply(changes)
    }

    /// If objects of several entities become objects of one, those of the first keep their row ids and the others receive new ones.
    private func reserveOffsets() throws {
        var seen: Set<Int> = []
        for route in plan.routes {
            for entity in route.matches.map(\.target) where !seen.insert(entity.index).inserted {
                let largest = try largestID(route.source)
                guard largest > 0 else { continue }
                let first = try migration.target.reserveIDs(entity, count: Int(largest))
                position.offsets["\(route.source.index):\(entity.index)"] = first - 1
            }
        }
        if !position.offsets.isEmpty { try save() }
    }

    private func largestID(_ entity: Entity) throws -> Int64 {
        var request = FetchRequest(entity)
        request.onlyIDs = true
        let cursor = try source.fetch(request)
        defer { cursor.close() }
        var largest: Int64 = 0
        while try cursor.next() { largest = max(largest, cursor.rowID) }
        return largest
    }

    /// Returns the offset to add to the row ids of the objects of an old entity that become objects of a new one.
    func offset(_ old: Int, _ new: Int) -> Int64 { position.offsets["\(old):\(new)"] ?? 0 }

    // MARK: Objects

    private func run(_ route: MigrationPlan.Route) throws {
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

    private func copier(_ match: EntityMatch) -> RecordCopier {
        let key = [match.source.index, match.target.index]
        if let known = copiers[key] { return known }
        let copier = RecordCopier(match, offset: offset)
        copiers[key] = copier
        return copier
    }

    /// Returns the targets of the to-one relationships that are determined for each object, by row id and relationship index.
    private func links(_ copier: RecordCopier, _ source: Entity, _ request: FetchRequest) throws -> [Int64: [Int: Int64]] {
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

    private func links(_ copier: RecordCopier, _ source: Entity, _ ids: [Int64]) throws -> [Int64: [Int: Int64]] {
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

    private func insert(
        _ cursor: RecordCursor, _ source: Entity, _ copier: RecordCopier, _ links: [Int: Int64], _ changes: ChangeSet
    ) throws {
        let id = cursor.rowID &+ copier.offset
        if let missing = copier.missingAttribute { throw self.missing(missing, copier.target, id) }
        try changes.insert(copier.target, rowID: id) { try copier.copy(cursor.record, source, links: links, into: &$0) }
        if let change = changes.changes.last { try checkRules(copier.target, id, changes.record(change)) }
        position.rewritten += 1
    }

    private func missing(_ field: Field, _ entity: Entity, _ id: Int64) -> StoreError {
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

    private func checkRules(_ entity: Entity, _ id: Int64, _ record: RecordView) throws {
        guard let evaluator = evaluators[entity.index], let finding = try evaluator.findings(id, record, evaluator.fields).first else {
            return
        }
        throw StoreError(
            .constraint, "\(entity.name).\(finding.field.name) of \(described(entity, id)) \(finding.message).", entity: entity.name,
            attribute: finding.field.name, rowID: id)
    }

    // MARK: Mappings

    /// Records an error of a setter or subscript, which cannot throw it.
    func fail(_ error: any Error) { failure = failure ?? error }

    func attempt(_ body: () throws -> Void) {
        do { try body() } catch { fail(error) }
    }

    private func checkFailure() throws { if let failure { throw failure } }

    func targetEntity(_ name: String) throws -> Entity {
        if let entity = plan.target.entity(named: name) { return entity }
        if let entity = plan.target.entities.first(where: { $0.classes.contains { $0.name == name } }) { return entity }
        throw StoreError(
            .misuse,
            "There is no entity \(name) in the new version, which has \(plan.target.entities.map(\.name).joined(separator: ", ")).",
            entity: name)
    }

    private func sourceEntity(_ name: String) throws -> Entity {
        if let entity = plan.source.entity(named: name) { return entity }
        throw StoreError(
            .misuse,
            "There is no entity \(name) in the old version, which has \(plan.source.entities.map(\.name).joined(separator: ", ")).",
            entity: name)
    }

    func oldObject(_ entity: Int, _ id: Int64) throws -> OldObject? {
        let entity = plan.source.entities[entity]
        return try source.record(entity, rowID: id).map { OldObject(entity, id, $0, self) }
    }

    func forEachOldObject(_ name: String, _ body: (OldObject) throws -> Void) throws {
        let entity = try sourceEntity(name)
        let cursor = try source.fetch(FetchRequest(entity))
        defer { cursor.close() }
        while try cursor.next() {
            try body(OldObject(entity, cursor.rowID, cursor.record, self))
            try checkFailure()
            if unwritten.count + links.count >= Self.batchSize { try flush() }
        }
    }

    func countOfOldObjects(_ name: String) throws -> Int { try source.count(FetchRequest(try sourceEntity(name))) }

    func copy(_ old: OldObject, to name: String) throws -> NewObject {
        let entity = try targetEntity(name)
        guard let route = plan.routes.first(where: { $0.source === old.entity && $0.match(entity.index) != nil }),
            let match = route.match(entity.index)
        else {
            throw StoreError(
                .misuse, "The mapping does not say that \(old.entity.name) becomes \(entity.name). Name \(entity.name) in its transform.",
                entity: entity.name)
        }
        let copier = copier(match)
        let id = old.rowID &+ copier.offset
        if let known = try newObject(entity, id) { return known }
        guard let record = try source.record(old.entity, rowID: old.rowID) else { throw notFound(old.entity, old.rowID) }
        var values = try copier.values(record, old.entity, links: [:])
        if let classifier = entity.classifierField { try choose(name, entity, classifier, old, &values) }
        let chosen = try links(copier, old.entity, [old.rowID])[old.rowID] ?? [:]
        for relationship in copier.links {
            guard case .foreignKey(let field) = relationship.storage, let target = chosen[relationship.index] else { continue }
            values[field] = .integer(target)
        }
        position.rewritten += 1
        let object = NewObject(entity, id, values: values, self)
        object.ambiguous = try ambiguous(copier, old)
        return add(object)
    }

    /// Sets the class of a copied object, if the mapping names one, and clears the fields that the class does not have.
    private func choose(_ name: String, _ entity: Entity, _ classifier: Int, _ old: OldObject, _ values: inout [Value]) throws {
        if name != entity.name { values[classifier] = .text(name) }
        guard case .text(let chosen) = values[classifier] else {
            throw StoreError(
                .misuse,
                "The object \(old.rowID) is of the entity \(old.entityName), which the new version does not have, so it cannot be copied to \(name). Copy it to another entity ("
                    + "\(entity.concreteClasses)), or test entityName and do not copy it, which removes it.",
                entity: entity.name, rowID: old.rowID)
        }
        try restrict(&values, to: chosen, entity)
    }

    /// Sets the class of an object of a hierarchy, clears the fields that the class does not have, and fills those that it requires with their defaults.
    ///
    /// - Throws: `misuse` for an abstract class.
    private func restrict(_ values: inout [Value], to name: String, _ entity: Entity) throws {
        guard let classifier = entity.classifierField else { return }
        guard let part = entity.classes.first(where: { $0.name == name }), !part.isAbstract else {
            throw StoreError(
                .misuse, "\(name) is abstract and has no objects. Choose an entity below it; \(entity.name) has \(entity.concreteClasses).",
                entity: name)
        }
        values[classifier] = .text(name)
        for field in entity.fields where !field.isHidden && field.index != classifier {
            if !part.fields.contains(field.index) {
                values[field.index] = .null
            } else if values[field.index].isNull, field.relationship == nil, entity.requiresInSubentity(field.name) {
                values[field.index] = field.defaultValueOfObject()
            }
        }
    }

    /// Returns the to-one relationships for which an old object has several candidates, by field index.
    private func ambiguous(_ copier: RecordCopier, _ old: OldObject) throws -> [Int: Relationship] {
        guard !plan.losesLinks else { return [:] }
        var found: [Int: Relationship] = [:]
        for relationship in copier.links {
            guard let origin = plan.origins.origin(relationship, of: old.entity.index), case .foreignKey(let field) = relationship.storage,
                try linkReader.candidates(origin, [old.rowID])[old.rowID]?.count ?? 0 > 1
            else { continue }
            found[field] = relationship
        }
        return found
    }

    private func notFound(_ entity: Entity, _ id: Int64) -> StoreError {
        StoreError(.notFound, "There is no object \(id) of \(entity.name).", entity: entity.name, rowID: id)
    }

    func insert(_ name: String) throws -> NewObject {
        let entity = try targetEntity(name)
        var values = entity.fields.map { $0.defaultValueOfObject() }
        try restrict(&values, to: name, entity)
        position.rewritten += 1
        return add(NewObject(entity, try migration.target.reserveIDs(entity, count: 1), values: values, self))
    }

    private func add(_ object: NewObject) -> NewObject {
        object.position = objectCount
        objectCount += 1
        pending[Key(entity: object.entity.index, id: object.rowID)] = object
        if object.isInsert { willWrite(object) }
        return object
    }

    /// Adds an object to the objects with unwritten changes.
    func willWrite(_ object: NewObject) {
        guard !object.isUnwritten else { return }
        object.isUnwritten = true
        unwritten.append(object)
    }

    func newObject(_ entity: Entity, _ id: Int64) throws -> NewObject? {
        if let known = pending[Key(entity: entity.index, id: id)] { return known.isDeleted ? nil : known }
        return try migration.target.record(entity, rowID: id).map { add(NewObject(entity, id, $0, self)) }
    }

    func first(_ name: String, _ attribute: String, _ value: QueryValue?) throws -> NewObject? {
        let entity = try targetEntity(name)
        guard let field = entity.field(named: attribute), field.relationship == nil else {
            throw entity.unknownProperty(attribute, "attribute")
        }
        var predicate = QueryPredicate.isNull(FieldReference(field))
        if let value {
            guard let constant = ValueConversion.value(value, as: field.type) else { return nil }
            predicate = .compare(FieldReference(field), .equal, constant)
        }
        if name != entity.name, let classifier = entity.classifierField, let part = entity.classes.first(where: { $0.name == name }) {
            predicate = .and([predicate, .oneOf(FieldReference(entity.fields[classifier]), part.concreteNames.map { .text($0) })])
        }
        try flush()
        return try firstID(FetchRequest(entity, predicate: predicate, limit: 1)).flatMap { try newObject(entity, $0) }
    }

    private func firstID(_ request: FetchRequest) throws -> Int64? {
        let cursor = try migration.target.fetch(request)
        defer { cursor.close() }
        return try cursor.next() ? cursor.rowID : nil
    }

    func setReference(_ object: NewObject, _ field: Int, _ relationship: Relationship, _ new: NewObject?) throws {
        let destination = plan.target.entities[relationship.destination]
        if let inverse = relationship.inverse, case .foreignKey(let back) = destination.relationships[inverse].storage {
            if case .integer(let old) = object.values[field], old != new?.rowID {
                try newObject(destination, old)?.assign(back, .null)
            }
            if let new, case .integer(let other) = new.values[back], other != object.rowID {
                try newObject(object.entity, other)?.assign(field, .null)
            }
            new?.assign(back, .integer(object.rowID))
        }
        object.assign(field, new.map { .integer($0.rowID) } ?? .null)
    }

    func add(_ object: NewObject, to relationship: Relationship, of owner: NewObject) throws {
        switch relationship.storage {
        case .foreignKey: break
        case .inverse(let field):
            object.assign(field, .integer(owner.rowID))
            if let position = relationship.positionField { object.assign(position, .integer(try nextPosition(relationship, owner))) }
        case .link(let table, let isReversed):
            let position = relationship.isOrdered ? try nextPosition(relationship, owner) : nil
            let pair = isReversed ? (object.rowID, owner.rowID) : (owner.rowID, object.rowID)
            links.append(
                ChangeSet.LinkChange(
                    table: table, source: pair.0, target: pair.1, isAddition: true, targetPosition: isReversed ? nil : position,
                    sourcePosition: isReversed ? position : nil))
            if plan.target.links[table].isSymmetric {
                links.append(ChangeSet.LinkChange(table: table, source: pair.1, target: pair.0, isAddition: true))
            }
        }
    }

    private func nextPosition(_ relationship: Relationship, _ owner: NewObject) throws -> Int64 {
        let key = [Int64(owner.entity.index), Int64(relationship.index), owner.rowID]
        var next = nextPositions[key]
        if next == nil {
            let last = try migration.target.related(relationship, of: [owner.rowID]).positions(of: owner.rowID).last
            next = max(last.map { $0 == .min ? 0 : $0 &+ 1 } ?? 0, try positionAfterOldTargets(relationship, owner))
        }
        nextPositions[key] = (next ?? 0) &+ 1
        return next ?? 0
    }

    /// Returns the first position after those of the targets that an object had in the old version, which are written after the closures.
    private func positionAfterOldTargets(_ relationship: Relationship, _ owner: NewObject) throws -> Int64 {
        var next: Int64 = 0
        for old in plan.source.entities {
            guard let origin = plan.origins.origin(relationship, of: old.index), !origin.parts.isEmpty else { continue }
            let id = owner.rowID &- offset(old.index, relationship.source)
            next = max(next, Int64(try linkReader.targets(origin, [id])[id]?.count ?? 0))
            // Positions that are copied with their objects may have gaps.
            guard let own = origin.own, own.isOrdered, let last = try source.related(own, of: [id]).positions(of: id).last, last != .min
            else { continue }
            next = max(next, last &+ 1)
        }
        return next
    }

    // MARK: Writing

    /// Writes and releases the pending objects.
    private func finishBatch() throws {
        try flush()
        try checkAmbiguity()
        pending = [:]
        nextPositions = [:]
    }

    /// Checks that the mapping has chosen among the candidates of each to-one relationship.
    private func checkAmbiguity() throws {
        let unsettled = pending.values.filter { !$0.isDeleted && !$0.ambiguous.isEmpty }
        guard let object = unsettled.min(by: { $0.position < $1.position }),
            let relationship = object.ambiguous.min(by: { $0.key < $1.key })?.value
        else { return }
        throw StoreError(
            .constraint,
            "\(object.entity.name).\(relationship.name) of object \(object.rowID) leads to one object, and the old version relates the object to several. Choose the object in the "
                + "schema mapping, or allow lost links in the policy of the migration.", entity: object.entity.name,
            attribute: relationship.name, rowID: object.rowID)
    }

    /// Writes the pending objects. They remain usable.
    private func flush() throws {
        try checkFailure()
        guard !unwritten.isEmpty || !links.isEmpty else { return }
        let objects = unwritten.sorted { $0.position < $1.position }
        let changes = ChangeSet(plan.target)
        for object in objects { try write(object, to: changes) }
        for link in links where !isDeleted(link) { changes.link(link) }
        try apply(changes)
        links = []
        unwritten = []
        for object in objects { object.wasWritten() }
    }

    private func write(_ object: NewObject, to changes: ChangeSet) throws {
        let entity = object.entity
        if object.isDeleted {
            guard !object.isInsert else { return }
            changes.delete(entity, rowID: object.rowID)
            return try removeLinks(of: object, changes)
        }
        guard object.isInsert || !object.changed.isEmpty else { return }
        for field in entity.fields where object.values[field.index].isNull && !field.isOptional && field.relationship == nil {
            throw missing(field, entity, object.rowID)
        }
        try checkRequired(object)
        func encode(_ builder: inout RecordBuilder) throws {
            for (field, value) in zip(entity.fields, object.values) where !value.isNull { try builder.set(field, value) }
        }
        if object.isInsert {
            try changes.insert(entity, rowID: object.rowID, encode)
        } else {
            try changes.update(entity, rowID: object.rowID, mask: object.changed, encode)
        }
        if let change = changes.changes.last { try checkRules(entity, object.rowID, changes.record(change)) }
    }

    /// Checks the required attributes of subentities, which are optional in the combined entity.
    private func checkRequired(_ object: NewObject) throws {
        let entity = object.entity
        guard entity.classifierField != nil, let part = entity.classes.first(where: { $0.name == object.entityName }) else { return }
        for field in entity.fields where part.fields.contains(field.index) && object.values[field.index].isNull {
            if field.relationship == nil, entity.requiresInSubentity(field.name) { throw missing(field, entity, object.rowID) }
        }
    }

    /// Returns whether either end of a pair is a deleted object.
    private func isDeleted(_ link: ChangeSet.LinkChange) -> Bool {
        let table = plan.target.links[link.table]
        return pending[Key(entity: table.source, id: link.source)]?.isDeleted ?? false
            || pending[Key(entity: table.target, id: link.target)]?.isDeleted ?? false
    }

    private func removeLinks(of object: NewObject, _ changes: ChangeSet) throws {
        for relationship in plan.target.entities.flatMap(\.relationships) {
            guard case .link(let table, _) = relationship.storage, let reversed = relationship.reversed else { continue }
            for end in [relationship, reversed] where end.source == object.entity.index {
                for other in try migration.target.related(end, of: [object.rowID])[object.rowID] {
                    changes.link(
                        ChangeSet.LinkChange(
                            table: table, source: end.isReversedLink ? other : object.rowID,
                            target: end.isReversedLink ? object.rowID : other,
                            isAddition: false))
                }
            }
        }
    }
}

extension Entity {
    /// The names of the classes that have objects: `City, River`.
    fileprivate var concreteClasses: String { classes.filter { !$0.isAbstract }.map(\.name).joined(separator: ", ") }
}
