/// A schema made ready for use: checked, its names turned into ordinals. Immutable, shared by everything of one store.
public final class ResolvedSchema: Sendable {
    public let description: SchemaDescription
    public let entities: [Entity]
    public let links: [LinkTable]
    public let versionHash: String
    private let byName: [String: Int]

    /// Checks and resolves a description.
    /// - Throws: `invalidSchema`, naming the entity and the property.
    public init(_ description: SchemaDescription) throws {
        let resolver = try SchemaResolver(description)
        self.description = description
        self.entities = resolver.entities
        self.links = resolver.links
        self.versionHash = description.versionHash
        self.byName = Dictionary(uniqueKeysWithValues: resolver.entities.map { ($0.name, $0.index) })
    }

    public func entity(named name: String) -> Entity? { byName[name].map { entities[$0] } }
}

/// Resolves once, then is thrown away.
struct SchemaResolver {
    private(set) var entities: [Entity] = []
    private(set) var links: [LinkTable] = []

    private let description: SchemaDescription
    private var indexOf: [String: Int] = [:]
    /// The relationships of each entity with their inverse, both ends told.
    private var declared: [[RelationshipDescription]] = []
    private var inverses: [[Int?]] = []

    init(_ description: SchemaDescription) throws {
        self.description = description
        try checkNames()
        declared = description.entities.map { entity in
            entity.properties.compactMap { if case .relationship(let relationship) = $0 { relationship } else { nil } }
        }
        try resolveInverses()
        try resolveEntities()
    }

    private func fail(_ entity: String, _ property: String? = nil, _ message: String) -> StoreError {
        StoreError(.invalidSchema, message, entity: entity, attribute: property)
    }

    private mutating func checkNames() throws {
        var folded: [String: String] = [:]
        for (index, entity) in description.entities.enumerated() {
            guard !entity.name.isEmpty, !entity.name.utf8.contains(0) else {
                throw fail(entity.name, nil, "An entity has an empty name or one with a NUL character.")
            }
            // SQL names are the same whatever their case, so no two may differ in case only.
            if let other = folded.updateValue(entity.name, forKey: entity.name.lowercased()) {
                throw fail(entity.name, nil, "Entities \(other) and \(entity.name) have the same name, or differ in case only; rename one.")
            }
            indexOf[entity.name] = index
            var properties: [String: String] = [:]
            for property in entity.properties {
                guard !property.name.isEmpty, !property.name.utf8.contains(0), property.name.lowercased() != "objectid" else {
                    throw fail(
                        entity.name, property.name,
                        "Property \"\(property.name)\" of \(entity.name) needs another name: empty names, NUL and objectID are not to be had."
                    )
                }
                if let other = properties.updateValue(property.name, forKey: property.name.lowercased()) {
                    throw fail(
                        entity.name, property.name,
                        "Properties \(other) and \(property.name) of \(entity.name) have the same name, or differ in case only; rename one."
                    )
                }
            }
        }
    }

    private mutating func resolveInverses() throws {
        inverses = declared.map { $0.map { _ in nil } }
        for (source, relationships) in declared.enumerated() {
            let name = description.entities[source].name
            for (ordinal, relationship) in relationships.enumerated() {
                guard let destination = indexOf[relationship.destination] else {
                    throw fail(
                        name, relationship.name,
                        "\(name).\(relationship.name) points to \(relationship.destination), which is not in this schema or configuration; add it there."
                    )
                }
                guard let inverse = relationship.inverse else { continue }
                let path = "\(relationship.destination).\(inverse)"
                guard let back = declared[destination].firstIndex(where: { $0.name == inverse }) else {
                    throw fail(
                        name, relationship.name,
                        "\(name).\(relationship.name) names \(path) as its inverse, but there is no such relationship.")
                }
                guard declared[destination][back].destination == name else {
                    throw fail(
                        name, relationship.name,
                        "\(name).\(relationship.name) names \(path) as its inverse, but that points to \(declared[destination][back].destination)."
                    )
                }
                if let told = declared[destination][back].inverse, told != relationship.name {
                    throw fail(
                        name, relationship.name, "\(name).\(relationship.name) names \(path) as its inverse, but that names \(told).")
                }
                try join(source, ordinal, destination, back, path: path)
            }
        }
    }

    private mutating func join(_ source: Int, _ ordinal: Int, _ destination: Int, _ back: Int, path: String) throws {
        let name = description.entities[source].name
        if let other = inverses[destination][back], destination != source || other != ordinal || back != ordinal {
            if !(inverses[source][ordinal] == back && other == ordinal) {
                throw fail(
                    name, declared[source][ordinal].name,
                    "\(path) would be the inverse of two relationships; name a different inverse for \(name).\(declared[source][ordinal].name)."
                )
            }
        }
        inverses[source][ordinal] = back
        inverses[destination][back] = ordinal
    }

    private mutating func resolveEntities() throws {
        var fieldsOf: [[Field]] = []
        for entity in description.entities { fieldsOf.append(try fields(of: entity)) }
        for (index, entity) in description.entities.enumerated() {
            let relationships = try declared[index].enumerated().map { try relationship(index, $0.offset, fieldsOf) }
            entities.append(
                Entity(
                    index: index, description: entity, fields: fieldsOf[index], relationships: relationships,
                    indexes: try indexes(of: entity, fields: fieldsOf[index])))
        }
    }

    private func fields(of entity: EntityDescription) throws -> [Field] {
        var fields: [Field] = []
        var relationships = 0
        for property in entity.properties {
            switch property {
            case .attribute(let attribute):
                fields.append(
                    Field(
                        ordinal: fields.count, name: attribute.name, type: attribute.type, isOptional: attribute.isOptional,
                        relationship: nil, defaultValue: attribute.defaultValue))
            case .relationship(let relationship):
                if !relationship.isToMany {
                    fields.append(
                        Field(
                            ordinal: fields.count, name: relationship.name, type: .int64, isOptional: true, relationship: relationships,
                            defaultValue: nil))
                }
                relationships += 1
            }
        }
        guard fields.count <= FieldMask.capacity else {
            throw fail(
                entity.name, nil,
                "\(entity.name) has \(fields.count) attributes and to-one relationships; \(FieldMask.capacity) is the limit. Split it in two."
            )
        }
        return fields
    }

    private func indexes(of entity: EntityDescription, fields: [Field]) throws -> [Index] {
        var found: [Index] = []
        func add(_ ordinals: [Int], unique: Bool) {
            if let same = found.firstIndex(where: { $0.fields == ordinals }) {
                if unique { found[same] = Index(name: found[same].name, fields: ordinals, isUnique: true) }
                return
            }
            let name = ([entity.name] + ordinals.map { fields[$0].name }).joined(separator: "_")
            found.append(Index(name: name, fields: ordinals, isUnique: unique))
        }
        for property in entity.properties {
            guard let field = fields.first(where: { $0.name == property.name }) else { continue }
            switch property {
            case .attribute(let attribute):
                if attribute.isUnique || attribute.isIndexed { add([field.ordinal], unique: attribute.isUnique) }
            case .relationship: add([field.ordinal], unique: false)
            }
        }
        for index in entity.indexes {
            let ordinals = try index.fields.map { name in
                guard let field = fields.first(where: { $0.name == name }) else {
                    throw fail(
                        entity.name, name, "An index of \(entity.name) names \(name), which is no attribute or to-one relationship of it.")
                }
                return field.ordinal
            }
            guard !ordinals.isEmpty, Set(ordinals).count == ordinals.count else {
                throw fail(entity.name, nil, "An index of \(entity.name) is empty or names a field twice.")
            }
            add(ordinals, unique: index.isUnique)
        }
        return found
    }

    private mutating func relationship(_ source: Int, _ ordinal: Int, _ fieldsOf: [[Field]]) throws -> Relationship {
        let told = declared[source][ordinal]
        let entity = description.entities[source].name
        guard !told.isOrdered else {
            throw StoreError(
                .unsupported, "\(entity).\(told.name): ordered relationships are not supported yet; declare a Set.", entity: entity,
                attribute: told.name)
        }
        guard told.minCount >= 0, told.maxCount.map({ $0 >= told.minCount }) ?? true else {
            throw fail(entity, told.name, "\(entity).\(told.name): the least count is above the greatest, or below 0.")
        }
        let destination = indexOf[told.destination] ?? 0  // checked in resolveInverses
        let inverse = inverses[source][ordinal]
        let storage: Relationship.Storage
        if !told.isToMany {
            let field = fieldsOf[source].first { $0.relationship == ordinal }
            storage = .foreignKey(field: field?.ordinal ?? 0)
        } else if let inverse, !declared[destination][inverse].isToMany {
            let field = fieldsOf[destination].first { $0.relationship == inverse }
            storage = .inverse(field: field?.ordinal ?? 0)
        } else {
            storage = link(source, ordinal, destination, inverse)
        }
        return Relationship(
            ordinal: ordinal, name: told.name, source: source, destination: destination, isToMany: told.isToMany,
            deleteRule: told.deleteRule, isRequired: told.isRequired, minCount: told.minCount, maxCount: told.maxCount, inverse: inverse,
            storage: storage)
    }

    /// The side that comes first by name owns the table, so that both ends find the same one at every start.
    private mutating func link(_ source: Int, _ ordinal: Int, _ destination: Int, _ inverse: Int?) -> Relationship.Storage {
        let mine = "\(description.entities[source].name)_\(declared[source][ordinal].name)"
        let theirs = inverse.map { "\(description.entities[destination].name)_\(declared[destination][$0].name)" }
        let isReversed = theirs.map { $0 < mine } ?? false
        let name = isReversed ? theirs ?? mine : mine
        if let table = links.firstIndex(where: { $0.name == name }) { return .link(table: table, isReversed: isReversed) }
        links.append(
            LinkTable(
                index: links.count, name: name, source: isReversed ? destination : source, target: isReversed ? source : destination,
                isSymmetric: theirs == mine))
        return .link(table: links.count - 1, isReversed: isReversed)
    }
}
