import PolyStoreBackend
import PolyStoreFormats
import PolyStoreKernel
import PolyStoreTransfer

/// A record of an import, with the properties that it assigns.
struct EntityRecord: Sendable {
    let record: SourceRecord
    let plan: EntityImportPlan
}

/// The class of the objects of one entity, as imports need it.
protocol ImportableEntity: DynamicModel, OptionallyUniqueObject where ImportSource == EntityRecord, UniqueIDType == EntityKey {}

extension ObjectOfEntity: ImportableEntity {
    typealias ImportSource = EntityRecord
    typealias UniqueIDType = EntityKey

    static var hasUniqueID: Bool { entity.uniqueAttributes != nil }
    static var uniqueIDKeyPath: EntityKeyPath { EntityKeyPath(entity: entity) }
    static func uniqueID(from source: EntityRecord, in transaction: Transaction) throws -> EntityKey? { try source.plan.key(source.record) }

    func didInsert(from source: EntityRecord, in transaction: Transaction) throws {
        if let kind = try source.plan.entityClass(source.record)?.kind {
            guard !kind.isAbstract else {
                throw source.plan.invalid(
                    "is missing: \(kind.name) is abstract, and its objects are \(kind.concreteNames.joined(separator: ", "))",
                    EntityHierarchy.classifier)
            }
            become(kind)
        }
        try source.assign(to: self, transaction)
    }

    func update(from source: EntityRecord, in transaction: Transaction) throws {
        if let (kind, isNamed) = try source.plan.entityClass(source.record), let own = entityClass {
            guard isNamed ? own.name == kind.name : kind.concreteNames.contains(own.name) else {
                throw source.plan.invalid(
                    "cannot become \(kind.name): the object with the unique id of the record, \(anyID), is of \(own.name)",
                    EntityHierarchy.classifier)
            }
        }
        try source.assign(to: self, transaction)
    }
}

extension EntityRecord {
    /// Assigns every field of the record whose value differs from that of the object.
    fileprivate func assign(to object: some DynamicModel, _ transaction: Transaction) throws {
        try object.read()
        if let rows = plan.rows, let id = record[EntityExportOptions.rowID], let id = try? Int64(source: id, options: plan.conversion) {
            rows.add(id, object._$state.rowID)
        }
        let kind = object.entityClass
        for (name, value) in record.fields {
            guard let property = plan.properties[name] else {
                try checkIsKnown(name)
                continue
            }
            switch property {
            case .attribute(let field):
                guard kind?.fields.contains(field.index) ?? true else {
                    try checkIsNull(value, name, kind)
                    continue
                }
                try assign(value, name, to: field, of: object)
            case .relationship(let relationship, let reader):
                guard kind?.relationships.contains(relationship.index) ?? true else {
                    try checkIsNull(value, name, kind)
                    continue
                }
                try assign(value, name, to: relationship, reader, of: object, transaction)
            }
        }
    }

    private func assign(_ value: JSONValue, _ name: String, to field: Field, of object: some DynamicModel) throws {
        let stored = try plan.stored(value, field, name, record)
        guard !stored.isNull || !object.isRequired(field) else { throw plan.invalid("is required: it cannot be null", field.name) }
        guard object.values[field.index] != stored || object.entry.entity.fields[field.index].hasComputedDefault else { return }
        object.changeField(field.index)
        object.values[field.index] = stored
    }

    // MARK: Relationships

    private func assign(
        _ value: JSONValue, _ name: String, to relationship: Relationship, _ reader: EntityReferenceReader, of object: some DynamicModel,
        _ transaction: Transaction
    ) throws {
        let references = try reader.references(try values(value, name, relationship), of: name, record, plan)
        func replace(_ found: [DynamicObject?]) throws {
            try self.replace(references, found, name, relationship, reader, of: object, transaction)
        }
        guard let type = reader.target.type as? any ImportableEntity.Type, type.hasUniqueID else { return try replace([]) }
        func assign<T: ImportableEntity>(_ type: T.Type) throws {
            let into = Into<T>(reader.target.store.configurationName)
            try transaction.references(into, uniqueIDs: references.compactMap(\.key), ifMissing: plan.options.missingTargets)
                .assign(to: relationship, on: object) { try replace($0.map { $0 as DynamicObject? }) }
        }
        try assign(type)
    }

    /// Replaces the targets of a relationship, immediately or when the records with their row ids have been imported.
    /// - Parameter found: The targets of the references with unique ids, in order.
    private func replace(
        _ references: [EntityReferenceReader.Reference], _ found: [DynamicObject?], _ name: String, _ relationship: Relationship,
        _ reader: EntityReferenceReader, of object: some DynamicModel, _ transaction: Transaction
    ) throws {
        func targets(_ target: (Int64) throws -> DynamicObject?) rethrows -> [DynamicObject] {
            var next = found.makeIterator()
            var seen: Set<ObjectIdentifier> = []
            return try references.compactMap { reference in
                let object = if let rowID = reference.rowID { try target(rowID) } else { next.next() ?? nil }
                return object.flatMap { seen.insert(ObjectIdentifier($0)).inserted ? $0 : nil }
            }
        }
        let refersToRecords = reader.target.entityIndex == object._$state.entityIndex && references.contains { $0.rowID != nil }
        guard let rows = plan.rows, refersToRecords else {
            if plan.rows != nil { transaction.removeDeferredAssignment(to: relationship, on: object) }
            return try object.replaceTargets(of: relationship, targets { try self.target($0, name, reader, transaction) })
        }
        let isIgnored = plan.options.missingTargets == .ignore
        transaction.assignAfterRecords(to: relationship, on: object, target: reader.target.entity.name) {
            var missing: Int64?
            let targets = try targets { id in
                let target = try rows[id].flatMap { try transaction.fetchExisting(AnyObjectID(entry: reader.target, rowID: $0)) }
                if target == nil, !isIgnored { missing = missing ?? id }
                return target
            }
            if missing == nil { try object.replaceTargets(of: relationship, targets) }
            return missing
        }
    }

    /// Returns the references in a value. In CSV, those of a to-many relationship are the JSON text of an array.
    private func values(_ value: JSONValue, _ name: String, _ relationship: Relationship) throws -> [JSONValue] {
        if value.isNull { return [] }
        guard relationship.isToMany else { return [value] }
        do { return try [JSONValue](source: value, options: plan.conversion) } catch let error as RecordError {
            throw error.inField(name).at(record.position)
        }
    }

    private func target(
        _ rowID: Int64, _ name: String, _ reader: EntityReferenceReader, _ transaction: Transaction
    ) throws -> DynamicObject? {
        let isOfStore = plan.options.rowIDs == .ofStore
        if isOfStore, let object = try transaction.fetchExisting(AnyObjectID(entry: reader.target, rowID: rowID)) { return object }
        if isOfStore ? plan.options.missingTargets != .fail : plan.options.missingTargets == .ignore { return nil }
        let target = reader.target.entity.name
        throw plan.invalid(
            isOfStore
                ? "leads to \(target) \(rowID), which does not exist"
                : "leads to \(target) by the row id \(rowID), which is that of no record of the import. If it is one of this store, say so with the option for row ids; "
                    + "otherwise declare a unique attribute in \(target), and export again", name)
    }

    // MARK: Errors

    private func checkIsKnown(_ name: String) throws {
        guard name != EntityExportOptions.rowID, plan.kind == nil || name != EntityHierarchy.classifier,
            !plan.options.ignoresUnknownFields
        else { return }
        let known = plan.properties.keys.sorted().joined(separator: ", ")
        throw plan.invalid("is not a property, and no property is read from a field of this name; the known fields are \(known)", name)
    }

    private func checkIsNull(_ value: JSONValue, _ name: String, _ kind: EntityClass?) throws {
        guard !value.isNull, value != .array([]), value != .string("[]") else { return }
        throw plan.invalid("is not a property of \(kind?.name ?? plan.entityName), the entity of the object", name)
    }
}

extension DynamicModel {
    /// Replaces the targets of a relationship, unless it has them.
    fileprivate func replaceTargets(of relationship: Relationship, _ targets: [DynamicObject]) throws {
        if relationship.isToMany {
            let (old, new) = (try objects(relationship.name).map(\.id), targets.map(\.id))
            if relationship.isOrdered ? old != new : Set(old) != Set(new) { try set(relationship.name, to: targets) }
        } else if try object(relationship.name) !== targets.first {
            try set(relationship.name, to: targets.first)
        }
    }
}
