import PolyStoreBackend
import PolyStoreFormats
import PolyStoreKernel
import PolyStoreTransfer

/// The properties that an import of an entity assigns, by the names of the fields of records.
struct EntityImportPlan: Sendable {
    enum Property: Sendable {
        case attribute(Field)
        case relationship(Relationship, EntityReferenceReader)

        var name: String {
            switch self {
            case .attribute(let field): field.name
            case .relationship(let relationship, _): relationship.name
            }
        }
    }

    /// The name of the imported entity or subentity.
    let entityName: String
    let entity: Entity
    /// The imported class of the hierarchy that the entity holds; `nil` for any other entity.
    let kind: EntityClass?
    let properties: [String: Property]
    /// The names of the fields with the unique id, if the entity has one.
    let keyFields: [(name: String, field: Field)]
    /// The rows of the records of the run; `nil` if no record refers to them by row ids.
    let rows: ImportedRows?
    let options: EntityImportOptions
    let conversion: ConversionOptions

    /// - Throws: `misuse` for options that name no property, give two properties one field, or create stubs of a hierarchy.
    init(_ entityName: String, _ entry: StoreEntity, _ table: StoreTable, _ options: EntityImportOptions) throws {
        (self.entityName, self.options) = (entityName, options)
        entity = entry.entity
        kind = entry.entity.entityClass(named: entityName)
        conversion = ConversionOptions(dates: options.dates)
        let names = entry.entity.propertyNames(of: kind)
        if let unknown = options.names.keys.filter({ !names.contains($0) }).min() {
            throw StoreError(
                .misuse,
                "The import of \(entityName) names a field for \"\(unknown)\", which is not a property of it. Its properties are \(names.joined(separator: ", ")).",
                entity: entityName, attribute: unknown)
        }
        var properties: [String: Property] = [:]
        let classifier = entry.entity.classifierField.map { entry.entity.fields[$0].name }
        for property in entry.entity.description.properties.map(\.name) where property != classifier {
            let field = options.names[property] ?? property
            guard properties.updateValue(try Self.property(property, entry, table, options), forKey: field) == nil else {
                throw StoreError(
                    .misuse,
                    "The import of \(entityName) reads two properties from the field \"\(field)\". Name another field for one of them.",
                    entity: entityName, attribute: property)
            }
        }
        self.properties = properties
        keyFields = try Self.keyFields(entityName, entity, kind).map { (options.names[$0.name] ?? $0.name, $0) }
        let refersToRows = properties.values.contains { property in
            if case .relationship(_, let reader) = property { reader.target.entityIndex == entry.entityIndex } else { false }
        }
        rows = options.rowIDs == .ofRecords && refersToRows && properties[EntityExportOptions.rowID] == nil ? ImportedRows() : nil
    }

    /// Returns the fields with the unique id.
    /// - Throws: `misuse` if the objects of a class have another unique id than those of other classes of the hierarchy.
    private static func keyFields(_ entityName: String, _ entity: Entity, _ kind: EntityClass?) throws -> [Field] {
        guard let all = entity.uniqueAttributes else { return [] }
        func names(_ fields: [Int]) -> String { fields.map { entity.fields[$0].name }.joined(separator: ", ") }
        if let own = entity.uniqueAttributes(of: kind), own != all {
            throw StoreError(
                .misuse,
                "\(entityName) cannot be imported: its unique id is \(names(own)), and objects of the hierarchy \(entity.name) are found by \(names(all)), which they do not have. "
                    + "Declare a unique attribute in \(entity.name).", entity: entityName)
        }
        return all.map { entity.fields[$0] }
    }

    private static func property(
        _ name: String, _ entry: StoreEntity, _ table: StoreTable, _ options: EntityImportOptions
    ) throws -> Property {
        guard let relationship = entry.entity.relationship(named: name) else {
            guard let field = entry.entity.field(named: name) else {
                throw StoreError(.invalidSchema, "\(entry.entity.name).\(name) has no field.", entity: entry.entity.name, attribute: name)
            }
            return .attribute(field)
        }
        let target = table.entries[Int(entry.destinations[relationship.index])]
        if options.missingTargets == .createStub, target.entity.classifierField != nil {
            throw StoreError(
                .misuse,
                "\(entry.entity.name).\(name) leads to the hierarchy \(target.entity.name), and an object with only its unique id would have no entity of it. Import the targets first.",
                entity: entry.entity.name, attribute: name)
        }
        return .relationship(relationship, EntityReferenceReader(target, relationship))
    }

    // MARK: Records

    /// Returns the unique id of a record; `nil` if its class has none, or a part of it is null.
    func key(_ record: SourceRecord) throws -> EntityKey? {
        if let kind, !keyFields.allSatisfy({ kind.fields.contains($0.field.index) }) {
            guard let own = try entityClass(record)?.kind, keyFields.allSatisfy({ own.fields.contains($0.field.index) }) else { return nil }
        }
        var values: [Value] = []
        for (name, field) in keyFields {
            guard let value = record[name], !value.isNull else { return nil }
            values.append(try stored(value, field, name, record))
        }
        return values.isEmpty ? nil : EntityKey(values: values)
    }

    /// Returns a value of a record as the field keeps it.
    func stored(_ value: JSONValue, _ field: Field, _ name: String, _ record: SourceRecord) throws -> Value {
        if value.isNull { return .null }
        do {
            let value = try field.queryValue(value, isUntyped: record.isUntyped, conversion)
            return try field.stored(value) { invalid($0, field.name) }
        } catch let error as RecordError { throw error.inField(name).at(record.position) }
    }

    /// Returns the class of the object of a record, and whether the record names it; `nil` for an entity without a hierarchy.
    /// - Throws: `invalidValue` if the record names no class of the imported entity.
    func entityClass(_ record: SourceRecord) throws -> (kind: EntityClass, isNamed: Bool)? {
        guard let kind else { return nil }
        guard let value = record[EntityHierarchy.classifier], !value.isNull else { return (kind, false) }
        let name = try record.require(EntityHierarchy.classifier, as: String.self)
        guard kind.concreteNames.contains(name), let named = entity.entityClass(named: name) else {
            throw invalid(
                "of a record is \"\(name)\", and objects of \(entityName) are \(kind.concreteNames.joined(separator: ", "))",
                EntityHierarchy.classifier)
        }
        return (named, true)
    }

    func invalid(_ problem: String, _ name: String) -> StoreError {
        StoreError(.invalidValue, "\(entityName).\(name) \(problem).", entity: entityName, attribute: name)
    }
}

extension Entity {
    /// Returns the names of the properties of objects of a class, in order of declaration; without one, of the whole entity.
    func propertyNames(of kind: EntityClass?) -> [String] {
        description.properties.map(\.name).filter { name in
            guard let field = field(named: name) else {
                return kind.map { kind in relationship(named: name).map { kind.relationships.contains($0.index) } ?? false } ?? true
            }
            return field.index != classifierField && kind?.fields.contains(field.index) ?? true
        }
    }
}
