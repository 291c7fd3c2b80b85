import PolyStoreBackend
import PolyStoreFormats
import PolyStoreKernel

/// The fields that an export writes for the objects of one store.
struct ExportPlan {
    enum Column {
        case rowID
        case attribute(Field)
        case toOne(field: Int, target: ExportTarget)
        case toMany(Relationship, target: ExportTarget)
    }

    let entry: StoreEntity
    let columns: [Column]
    /// The names in the destination, by column.
    let names: [String]

    /// - Throws: `misuse` for a key path that is not a stored property, for a name of a property that is not exported, for two fields with the same name, and
    ///   for a relationship whose targets have no unique id.
    init<T: Model>(_ type: T.Type, _ entry: StoreEntity, _ options: ExportOptions<T>, _ context: Context) throws {
        self.entry = entry
        let entity = entry.entity
        let properties = try options.fields?.map { try Self.storedName($0) } ?? options.storedNames ?? Self.allNames(type, entry)
        let rowID = options.includesRowIDs ? [ExportOptions<T>.rowID] : []
        columns = try rowID.map { _ in Column.rowID } + properties.map { try Self.column($0, entry, options, context) }
        if let unused = options.names.keys.filter({ !properties.contains($0) && !rowID.contains($0) }).min() {
            throw StoreError(
                .misuse,
                "The export renames \"\(unused)\", which is not an exported property of \(entity.name): \(properties.joined(separator: ", ")).",
                entity: entity.name, attribute: unused)
        }
        // A property can have the name of the row id; it is then the one that is renamed.
        names = rowID.map { properties.contains($0) ? $0 : options.names[$0] ?? $0 } + properties.map { options.names[$0] ?? $0 }
        var seen: Set<String> = []
        if let twice = names.first(where: { !seen.insert($0).inserted }) {
            throw StoreError(
                .misuse, "The export writes two properties of \(entity.name) under the name \"\(twice)\". Rename one of them.",
                entity: entity.name, attribute: twice)
        }
    }

    private static func column<T: Model>(
        _ name: String, _ entry: StoreEntity, _ options: ExportOptions<T>, _ context: Context
    ) throws -> Column {
        let entity = entry.entity
        guard let relationship = entity.relationship(named: name) else {
            guard let field = entity.field(named: name) else { throw unknown(name, entity) }
            return .attribute(field)
        }
        let target = try ExportTarget(
            context.entry(entry.destinations[relationship.index]), relationship, entity, writesRowIDs: options.writesRowIDs)
        if case .foreignKey(let field) = relationship.storage { return .toOne(field: field, target: target) }
        return .toMany(relationship, target: target)
    }

    private static func storedName<T: Model>(_ path: PartialKeyPath<T>) throws -> String {
        if let name = T._$properties.knownName(path) { return name }
        throw StoreError(
            .misuse, "\(path) cannot be exported: it is not a stored property of \(T._$entityName).", entity: T._$entityName)
    }

    private static func unknown(_ name: String, _ entity: Entity) -> StoreError {
        StoreError(.misuse, "\(entity.name) has no stored property \"\(name)\".", entity: entity.name, attribute: name)
    }

    /// Returns attributes and relationships in order of declaration.
    private static func allNames<T: Model>(_ type: T.Type, _ entry: StoreEntity) -> [String] {
        let fields = entry.fields(of: type)
        let relationships = Set(entry.relationships(of: type).map(\.name))
        let attributes = entry.entity.fields.filter { $0.relationship == nil && fields.contains($0.index) }.map(\.name)
        return attributes + entry.entity.relationships.map(\.name).filter(relationships.contains)
    }
}

/// The form of references to the objects of an entity: their unique ids.
struct ExportTarget {
    let entry: StoreEntity
    /// The fields of the unique id; empty for references by row id.
    let fields: [Field]
    /// A Boolean value that indicates whether an object with null in its unique id is written as its row id: `{"_id": 12}`.
    private let writesRowIDs: Bool

    init(_ entry: StoreEntity, _ relationship: Relationship, _ source: Entity, writesRowIDs: Bool = false) throws {
        (self.entry, self.writesRowIDs) = (entry, writesRowIDs)
        let named = try Self.importFields(entry.type)
        let found = writesRowIDs ? entry.entity.uniqueAttributes(ofTargets: relationship) ?? [] : entry.entity.uniqueAttributes
        guard let fieldIndexes = named ?? found else {
            throw StoreError(
                .misuse,
                "\(source.name).\(relationship.name) cannot be exported: \(entry.entity.name) has no unique attribute that would name its objects. "
                    + "Declare one, or leave the relationship out of the exported fields.",
                entity: source.name, attribute: relationship.name)
        }
        fields = fieldIndexes.map { entry.entity.fields[$0] }
        if let reference = fields.first(where: { $0.relationship != nil }) {
            throw StoreError(
                .misuse,
                "\(source.name).\(relationship.name) cannot be exported: the relationship \(reference.name) is a part of the unique id of "
                    + "\(entry.entity.name). Leave the relationship out of the exported fields.",
                entity: source.name, attribute: relationship.name)
        }
    }

    /// The fields of the unique id that an import of the class uses; `nil` if they depend on the relationship.
    private static func importFields(_ type: any Model.Type) throws -> [Int]? {
        if type is any OptionallyUniqueObject.Type { return nil }
        func fields<U: ImportableUniqueObject>(_ type: U.Type) throws -> [Int] { try U.uniqueIDKeyPath._$access().fields.map(\.index) }
        return try (type as? any ImportableUniqueObject.Type).map { try fields($0) }
    }

    /// Returns the unique id of a record: a value, or an array if the id has several fields.
    private func id(_ record: RecordView, _ rowID: Int64) throws -> JSONValue {
        let values = try fields.map { try JSONValue(record, $0) }
        if writesRowIDs, values.contains(where: \.isNull) { return .object(JSONObject([("_id", .number(JSONNumber(rowID)))])) }
        return values.count == 1 ? values[0] : .array(values)
    }

    /// Returns the unique ids of objects by row id. Objects that do not exist are omitted.
    func ids(of rowIDs: Set<Int64>, in context: Context) throws -> [Int64: JSONValue] {
        var ids: [Int64: JSONValue] = [:]
        ids.reserveCapacity(rowIDs.count)
        if fields.isEmpty {
            for rowID in rowIDs { ids[rowID] = .number(JSONNumber(rowID)) }
            return ids
        }
        let sorted = rowIDs.sorted()
        for first in stride(from: 0, to: sorted.count, by: 10_000) {
            let cursor = try context.rows(entry.entityIndex, of: Array(sorted[first..<min(first + 10_000, sorted.count)]))
            defer { cursor.close() }
            while try cursor.next() { ids[cursor.rowID] = try id(cursor.record, cursor.rowID) }
        }
        return ids
    }
}
