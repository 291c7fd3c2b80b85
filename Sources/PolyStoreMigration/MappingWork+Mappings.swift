import Foundation
import PolyStoreBackend
import PolyStoreKernel
import PolyStoreQuery

// The operations that closures of a mapping call, on old objects, new objects and their relationships.
extension MappingWork {
    /// Records an error of a setter or subscript, which cannot throw it.
    func fail(_ error: any Error) { failure = failure ?? error }

    func attempt(_ body: () throws -> Void) {
        do { try body() } catch { fail(error) }
    }

    func checkFailure() throws { if let failure { throw failure } }

    func targetEntity(_ name: String) throws -> Entity {
        if let entity = plan.target.entity(named: name) { return entity }
        if let entity = plan.target.entities.first(where: { $0.classes.contains { $0.name == name } }) { return entity }
        throw StoreError(
            .misuse,
            "There is no entity \(name) in the new version, which has \(plan.target.entities.map(\.name).joined(separator: ", ")).",
            entity: name)
    }

    func sourceEntity(_ name: String) throws -> Entity {
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
    func choose(_ name: String, _ entity: Entity, _ classifier: Int, _ old: OldObject, _ values: inout [Value]) throws {
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
    func ambiguous(_ copier: RecordCopier, _ old: OldObject) throws -> [Int: Relationship] {
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

    func add(_ object: NewObject) -> NewObject {
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

    /// Returns the first position after the positions of the targets that an object had in the old version. These targets are written after the closures.
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
}

extension Entity {
    /// The names of the classes that have objects: `City, River`.
    fileprivate var concreteClasses: String { classes.filter { !$0.isAbstract }.map(\.name).joined(separator: ", ") }
}
