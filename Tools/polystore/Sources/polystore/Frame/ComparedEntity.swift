import BrowserData
import PolyStoreBackend
import PolyStoreCore
import PolyStoreFormats

/// An entity of two stores: what identifies its objects, and the properties that both have.
struct ComparedEntity: Sendable {
    /// The name of the entity in both.
    let name: String
    /// The names of the attributes of the unique id; empty if row ids identify the objects.
    let key: [String]
    private let properties: [(name: String, property: PropertyDescription)]
    /// A Boolean value that indicates whether objects can lack properties, as those of a hierarchy.
    private let isHierarchy: Bool
    /// The attributes of the unique ids of all entities, by the names of the entities.
    private let keys: [String: [AttributeDescription]]
    /// The names of the entities that hold hierarchies.
    private let hierarchies: Set<String>

    /// The number of objects that are compared together.
    static let batch = 500

    /// - Parameter byRowID: Whether row ids identify the objects, although both entities have the same unique id.
    init(_ entity: EntityDescription, _ other: EntityDescription, in schema: SchemaDescription, byRowID: Bool) {
        name = entity.name
        hierarchies = Set(schema.entities.filter { $0.hierarchy != nil }.map(\.name))
        isHierarchy = hierarchies.contains(entity.name)
        keys = Dictionary(
            schema.entities.map { entity in
                let names = Self.uniqueID(of: entity)
                let attributes = entity.properties.compactMap { property -> AttributeDescription? in
                    if case .attribute(let attribute) = property, names.contains(attribute.name) { attribute } else { nil }
                }
                return (entity.name, names.compactMap { name in attributes.first { $0.name == name } })
            }, uniquingKeysWith: { first, _ in first })
        let common = Set(other.properties.map(\.name))
        let unique = Self.uniqueID(of: entity)
        key = byRowID || unique != Self.uniqueID(of: other) ? [] : unique
        properties = entity.properties.filter { common.contains($0.name) && $0.name != EntityHierarchy.classifier }.map { ($0.name, $0) }
    }

    /// Returns the attributes of the first unique index over attributes only, as imports and exports do.
    static func uniqueID(of entity: EntityDescription) -> [String] {
        for case .attribute(let attribute) in entity.properties where attribute.isUnique { return [attribute.name] }
        let relationships = Set(
            entity.properties.compactMap { if case .relationship(let relationship) = $0 { relationship.name } else { nil } })
        let index = entity.indexes.first { index in
            index.isUnique && index.parts.allSatisfy { $0.json == nil && !relationships.contains($0.field) }
        }
        return index?.fields ?? []
    }

    // MARK: Objects

    /// Returns the objects of the other store among which are those with given identities, with their related objects if their values are needed.
    func candidates(
        _ objects: [ComparedObject.Identity], _ stack: DataStack, _ context: Context, readsValues: Bool
    ) throws -> [DynamicObject] {
        var queries: [EntityQuery] = []
        let byRowID = try objects.compactMap(\.rowID).map { try stack.objectID(name, rowID: $0) }
        if !byRowID.isEmpty { queries.append(EntityQuery(name).where("objectID IN %@", byRowID)) }
        let byKey = objects.filter { $0.rowID == nil }
        if key.count == 1, !byKey.isEmpty {
            queries.append(EntityQuery(name).where("\(key[0].asPath) IN %@", byKey.compactMap { $0.key[0] }))
        } else if !byKey.isEmpty {
            let one = "(" + key.map { "\($0.asPath) == %@" }.joined(separator: " AND ") + ")"
            let arguments = byKey.flatMap { $0.key.map { $0 as (any QueryArgument & Sendable)? } }
            queries.append(EntityQuery(name).where(byKey.map { _ in one }.joined(separator: " OR "), arguments: arguments))
        }
        return try queries.flatMap { try context.fetchAll(readsValues ? prefetching($0) : $0) }
    }

    /// Returns a query that reads the related objects together with the objects.
    func prefetching(_ query: EntityQuery) -> EntityQuery {
        var query = query
        query.options.prefetch = properties.compactMap { name, property in
            if case .relationship = property { name.asPath } else { nil }
        }
        return query
    }

    /// Returns what identifies an object in both stores.
    func identity(_ object: DynamicObject) throws -> ComparedObject.Identity {
        let names = isHierarchy ? object.propertyNames : key
        let values = try key.map { names.contains($0) ? try object.value($0) : nil }
        // Null is not equal to null, so an object without a unique id is that with its row id.
        guard !key.isEmpty, values.allSatisfy({ $0 != nil }) else { return ComparedObject.Identity(key: [], rowID: object.id.rowID) }
        return ComparedObject.Identity(key: values, rowID: nil)
    }

    /// Returns the identity and the values of an object.
    func object(_ object: DynamicObject) throws -> ComparedObject {
        let identity = try identity(object)
        let names = isHierarchy ? Set(object.propertyNames) : nil
        var cells: [String: Cell] = [:]
        for (property, description) in properties where names?.contains(property) ?? true {
            cells[property] = try cell(object, description)
        }
        let key = keys[object.id.entityName] ?? []
        return ComparedObject(
            entityName: object.entityName, identity: identity,
            name: try identity.rowID.map { "\($0)" } ?? Self.text(key.map { try cell(object, $0) }), cells: cells,
            properties: properties.map(\.name))
    }

    private static func text(_ cells: [Cell]) -> String {
        cells.count == 1 ? cells[0].text : "(" + cells.map(\.text).joined(separator: ", ") + ")"
    }

    private func cell(_ object: DynamicObject, _ attribute: AttributeDescription) throws -> Cell {
        Cell(try object.value(attribute.name), attribute.type)
    }

    private func cell(_ object: DynamicObject, _ property: PropertyDescription) throws -> Cell {
        switch property {
        case .attribute(let attribute): return Cell(try object.value(attribute.name), attribute.type)
        case .relationship(let relationship) where relationship.isToMany:
            var targets = try object.objects(relationship.name).map(reference)
            if !relationship.isOrdered { targets.sort { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) } }
            return Cell(json: JSONValue(targets.map(\.json)), text: "[" + targets.map(\.text).joined(separator: ", ") + "]")
        case .relationship(let relationship): return try object.object(relationship.name).map(reference) ?? .null
        }
    }

    /// Returns the unique id of a related object, or its row id.
    private func reference(_ target: DynamicObject) throws -> Cell {
        let key = keys[target.id.entityName] ?? []
        // A subentity can declare the unique attribute.
        let hasKey = !hierarchies.contains(target.id.entityName) || Set(key.map(\.name)).isSubset(of: target.propertyNames)
        guard !self.key.isEmpty, !key.isEmpty, hasKey else {
            return Cell(json: JSONValue(target.id.rowID), text: "\(target.entityName) \(target.id.rowID)")
        }
        let cells = try key.map { try cell(target, $0) }
        return Cell(json: cells.count == 1 ? cells[0].json : JSONValue(cells.map(\.json)), text: "\(target.entityName) \(Self.text(cells))")
    }
}

/// An object of one of two stores.
struct ComparedObject {
    /// The unique id, or the row id of an object without one.
    struct Identity: Hashable {
        let key: [QueryValue?]
        let rowID: Int64?

        /// Texts are equal if their bytes are; Swift takes other forms of a letter for the same text.
        static func == (left: Identity, right: Identity) -> Bool {
            left.rowID == right.rowID && left.key == right.key && zip(left.key, right.key).allSatisfy(hasSameBytes)
        }

        private static func hasSameBytes(_ left: QueryValue?, _ right: QueryValue?) -> Bool {
            guard case .text(let left)? = left, case .text(let right)? = right else { return true }
            return left.utf8.elementsEqual(right.utf8)
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(rowID)
            hasher.combine(key)
        }
    }

    let entityName: String
    let identity: Identity
    /// The identity as a reader sees it.
    let name: String
    let cells: [String: Cell]
    let properties: [String]

    /// Returns the difference to the object of the other store; nil if there is none.
    func difference(to new: ComparedObject) -> ObjectDifference? {
        guard entityName == new.entityName else {
            return ObjectDifference(
                kind: .changed, entity: new.entityName, name: name,
                values: [(EntityHierarchy.classifier, Cell(entityName), Cell(new.entityName))])
        }
        let values = properties.compactMap { property -> (property: String, old: Cell?, new: Cell?)? in
            let (old, new) = (cells[property], new.cells[property])
            return (old ?? .null).hasSameValue(as: new ?? .null) ? nil : (property, old ?? .null, new ?? .null)
        }
        return values.isEmpty ? nil : ObjectDifference(kind: .changed, entity: entityName, name: name, values: values)
    }

    /// Returns the difference of an object that one store does not have.
    func whole(_ kind: ObjectDifference.Kind) -> ObjectDifference {
        let values = properties.compactMap { property -> (property: String, old: Cell?, new: Cell?)? in
            guard let cell = cells[property], !cell.isNull, cell.text != "[]" else { return nil }
            return kind == .added ? (property, nil, cell) : (property, cell, nil)
        }
        return ObjectDifference(kind: kind, entity: entityName, name: name, values: values)
    }
}
