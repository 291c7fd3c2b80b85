/// A validated schema with names resolved to indexes. Immutable, and shared by all users of a store.
public final class ResolvedSchema: Sendable {
    /// The description that the schema was resolved from.
    public let description: SchemaDescription
    /// The entities, by entity index.
    public let entities: [Entity]
    /// The link tables, by ``LinkTable/index``.
    public let links: [LinkTable]
    /// The ``SchemaDescription/versionHash`` of the description.
    public let versionHash: String
    private let byName: [String: Int]

    /// Validates and resolves a description.
    /// - Throws: `invalidSchema`, naming the entity and the property.
    public init(_ description: SchemaDescription) throws {
        let resolver = try SchemaResolver(description)
        self.description = description
        self.entities = resolver.entities
        self.links = resolver.links
        self.versionHash = description.versionHash
        self.byName = Dictionary(uniqueKeysWithValues: resolver.entities.map { ($0.name, $0.index) })
    }

    /// Returns an entity by its stored name.
    public func entity(named name: String) -> Entity? { byName[name].map { entities[$0] } }
}

/// The working state of resolving one schema.
struct SchemaResolver {
    private(set) var entities: [Entity] = []
    private(set) var links: [LinkTable] = []

    private let description: SchemaDescription
    private var indexOf: [String: Int] = [:]
    /// The relationships of each entity, with inverses completed at both ends.
    private var declared: [[RelationshipDescription]] = []
    private var inverses: [[Int?]] = []
    /// The relationship end that each table in ``links`` is named after.
    private var linkOwners: [End] = []

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
            // SQL names are case-insensitive, so entity names must not differ only in case.
            if let other = folded.updateValue(entity.name, forKey: entity.name.lowercased()) {
                throw fail(entity.name, nil, "Entities \(other) and \(entity.name) have the same name, or differ in case only; rename one.")
            }
            indexOf[entity.name] = index
            var properties: [String: String] = [:]
            for property in entity.properties {
                guard !property.name.isEmpty, !property.name.utf8.contains(0), property.name.lowercased() != "objectid" else {
                    throw fail(
                        entity.name, property.name,
                        "Property \"\(property.name)\" of \(entity.name) needs another name: a name cannot be empty, contain NUL, or be objectID."
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
            for (relationshipIndex, relationship) in relationships.enumerated() {
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
                if let otherInverse = declared[destination][back].inverse, otherInverse != relationship.name {
                    throw fail(
                        name, relationship.name,
                        "\(name).\(relationship.name) names \(path) as its inverse, but that names \(otherInverse).")
                }
                try join(source, relationshipIndex, destination, back, path: path)
            }
        }
    }

    private mutating func join(_ source: Int, _ relationshipIndex: Int, _ destination: Int, _ back: Int, path: String) throws {
        let name = description.entities[source].name
        if let other = inverses[destination][back], destination != source || other != relationshipIndex || back != relationshipIndex {
            if !(inverses[source][relationshipIndex] == back && other == relationshipIndex) {
                throw fail(
                    name, declared[source][relationshipIndex].name,
                    "\(path) would be the inverse of two relationships; name a different inverse for \(name).\(declared[source][relationshipIndex].name)."
                )
            }
        }
        inverses[source][relationshipIndex] = back
        inverses[destination][back] = relationshipIndex
    }

    private mutating func resolveEntities() throws {
        var fieldsOf: [[Field]] = []
        for index in description.entities.indices { fieldsOf.append(try fields(of: index)) }
        for (index, entity) in description.entities.enumerated() {
            let relationships = try declared[index].enumerated().map { try relationship(index, $0.offset, fieldsOf) }
            entities.append(
                Entity(
                    index: index, description: entity, fields: fieldsOf[index], relationships: relationships,
                    indexes: try indexes(of: entity, fields: fieldsOf[index]),
                    searchIndexes: try searchIndexes(of: entity, fields: fieldsOf[index])))
        }
        nameLinks()
        // Detects invalid rules when the stack is created instead of at the first commit.
        for entity in entities {
            for case .attribute(let attribute) in entity.description.properties {
                guard let field = entity.field(named: attribute.name) else { continue }
                try checkDefault(field, entity)
                for rule in attribute.rules { try rule.validate(field, of: entity) }
            }
        }
    }

    /// Checks that an attribute can have its constant default value.
    private func checkDefault(_ field: Field, _ entity: Entity) throws {
        guard let value = field.defaultValue, field.defaultExpression == nil else { return }
        do { try field.check(value) } catch {
            throw fail(
                entity.name, field.name,
                "\(entity.name).\(field.name) is \(field.type), which cannot hold its default value \(value.literal). Give it a value of its type."
            )
        }
    }

    private func fields(of index: Int) throws -> [Field] {
        let entity = description.entities[index]
        var fields: [Field] = []
        var relationships = 0
        for property in entity.properties {
            switch property {
            case .attribute(let attribute):
                fields.append(
                    Field(
                        index: fields.count, name: attribute.name, type: attribute.type, isOptional: attribute.isOptional,
                        relationship: nil, defaultValue: attribute.defaultValue, defaultExpression: attribute.defaultExpression,
                        defaultEvaluation: attribute.defaultEvaluation))
            case .relationship(let relationship):
                if !relationship.isToMany {
                    fields.append(
                        Field(
                            index: fields.count, name: relationship.name, type: .int64, isOptional: true, relationship: relationships,
                            defaultValue: nil))
                }
                relationships += 1
            }
        }
        try addPositions(index, &fields)
        guard fields.count <= FieldMask.capacity else {
            throw fail(
                entity.name, nil,
                "\(entity.name) has \(fields.count) attributes, to-one relationships and positions; \(FieldMask.capacity) is the limit. Split it in two."
            )
        }
        return fields
    }

    /// Appends the hidden positions after all declared fields, so that the indexes of declared fields do not depend on other entities.
    private func addPositions(_ index: Int, _ fields: inout [Field]) throws {
        let entity = description.entities[index]
        for (relationshipIndex, relationship) in declared[index].enumerated() where !relationship.isToMany {
            guard
                let back = inverses[index][relationshipIndex].flatMap({ inverse in
                    indexOf[relationship.destination].map { declared[$0][inverse] }
                }),
                back.isToMany, back.isOrdered
            else { continue }
            let name = "_order_\(relationship.name)"
            if let other = entity.properties.first(where: { $0.name.lowercased() == name.lowercased() }) {
                throw fail(
                    entity.name, other.name,
                    "\(entity.name).\(other.name) has the name that the positions in \(relationship.destination).\(back.name) are kept under; rename it."
                )
            }
            fields.append(
                Field(
                    index: fields.count, name: name, type: .int64, isOptional: true, relationship: nil, defaultValue: nil,
                    positionAlong: relationshipIndex))
        }
    }

    private func indexes(of entity: EntityDescription, fields: [Field]) throws -> [Index] {
        var found: [Index] = []
        func add(_ parts: [Index.Part], unique: Bool) {
            if let same = found.firstIndex(where: { $0.parts == parts }) {
                if unique { found[same] = Index(name: found[same].name, parts: parts, isUnique: true) }
                return
            }
            let names = parts.map { ([fields[$0.field].name] + ($0.json?.keys ?? [])).joined(separator: ".").replacing("\0", with: "_") }
            found.append(Index(name: ([entity.name] + names).joined(separator: "_"), parts: parts, isUnique: unique))
        }
        func add(_ fieldIndexes: [Int], unique: Bool) { add(fieldIndexes.map { Index.Part(field: $0, json: nil) }, unique: unique) }
        for property in entity.properties {
            guard let field = fields.first(where: { $0.name == property.name }) else { continue }
            switch property {
            case .attribute(let attribute):
                if attribute.isUnique || attribute.isIndexed { add([field.index], unique: attribute.isUnique) }
            case .relationship:
                let position = fields.first { $0.positionAlong != nil && $0.positionAlong == field.relationship }
                add([field.index] + (position.map { [$0.index] } ?? []), unique: false)
            }
        }
        for index in entity.indexes {
            let parts = try index.parts.map { part in
                guard let field = fields.first(where: { $0.name == part.field && !$0.isHidden }) else {
                    throw fail(
                        entity.name, part.field,
                        "An index of \(entity.name) names \(part.field), which is not an attribute or to-one relationship of it.")
                }
                try check(part, field, index, entity)
                return Index.Part(field: field.index, json: part.json)
            }
            guard !parts.isEmpty, Set(parts).count == parts.count else {
                throw fail(entity.name, nil, "An index of \(entity.name) is empty or names a field twice.")
            }
            add(parts, unique: index.isUnique)
        }
        return found
    }

    private func searchIndexes(of entity: EntityDescription, fields: [Field]) throws -> [SearchIndex] {
        var names = Set<String>()
        return try entity.searchIndexes.enumerated().map { position, declared in
            func refuse(_ field: String?, _ message: String) -> StoreError { fail(entity.name, field, message) }
            let found = try declared.fields.map { name in
                guard let field = fields.first(where: { $0.name == name && !$0.isHidden }), field.type == .string else {
                    throw refuse(name, "A full-text index of \(entity.name) names \(name), which is not a text attribute of it.")
                }
                return field
            }
            guard (1...SearchIndexDescription.mostFields).contains(found.count), Set(found.map(\.index)).count == found.count else {
                let most = SearchIndexDescription.mostFields
                throw refuse(
                    nil,
                    "A full-text index of \(entity.name) has \(found.count) fields, or one twice; it needs 1 to \(most) different ones.")
            }
            guard declared.weights.count == found.count, declared.weights.allSatisfy(SearchIndexDescription.weightRange.contains) else {
                let names = declared.fields.joined(separator: ", ")
                throw refuse(
                    nil, "The full-text index of \(entity.name) over \(names) needs one weight from 0.000001 to 1000000 for each field.")
            }
            guard names.insert(declared.name).inserted else {
                let name = declared.name.isEmpty ? "without a name" : "named \(declared.name)"
                throw refuse(nil, "\(entity.name) has two full-text indexes \(name). Name them differently.")
            }
            return SearchIndex(
                index: position, name: declared.name, plainName: SearchIndex.plainName(entity.name, declared.fields),
                fields: found.map(\.index), fieldNames: declared.fields, weights: declared.weights, options: declared.options)
        }
    }

    /// Checks a component of an index that is a field of a JSON attribute.
    private func check(_ part: IndexDescription.Part, _ field: Field, _ index: IndexDescription, _ entity: EntityDescription) throws {
        let path = "\(entity.name).\(part.path)"
        if let problem = part.problem { throw fail(entity.name, part.field, "\(path) cannot be indexed. \(problem)") }
        guard let json = part.json else { return }
        if let refusal = json.refusal(of: .field(FieldReference(field))) {
            throw fail(entity.name, part.field, "\(path) cannot be indexed. \(refusal)")
        }
        guard case .value(let type) = json.result, type != .json else {
            throw fail(
                entity.name, part.field,
                "\(path) cannot be indexed, because it is not a single value: an index contains texts, numbers, dates, Boolean values, UUIDs, URLs or data. "
                    + "Index a field of it, or store what you search for in an attribute.")
        }
        if index.isUnique {
            throw fail(
                entity.name, part.field,
                "\(path) cannot be unique, because it is a field of the JSON attribute \(part.field). Store the value in an attribute, and declare that as unique."
            )
        }
    }

    private mutating func relationship(_ source: Int, _ relationshipIndex: Int, _ fieldsOf: [[Field]]) throws -> Relationship {
        let declaration = declared[source][relationshipIndex]
        let entity = description.entities[source].name
        guard !declaration.isOrdered || declaration.isToMany else {
            throw fail(entity, declaration.name, "\(entity).\(declaration.name) leads to one object, so it cannot be ordered.")
        }
        guard declaration.minCount >= 0, declaration.maxCount.map({ $0 >= declaration.minCount }) ?? true else {
            throw fail(entity, declaration.name, "\(entity).\(declaration.name): the least count is above the greatest, or below 0.")
        }
        let destination = indexOf[declaration.destination] ?? 0  // checked in resolveInverses
        let inverse = inverses[source][relationshipIndex]
        let storage: Relationship.Storage
        var position: Int?
        if !declaration.isToMany {
            let field = fieldsOf[source].first { $0.relationship == relationshipIndex }
            storage = .foreignKey(field: field?.index ?? 0)
        } else if let inverse, !declared[destination][inverse].isToMany {
            let field = fieldsOf[destination].first { $0.relationship == inverse }
            storage = .inverse(field: field?.index ?? 0)
            if declaration.isOrdered { position = fieldsOf[destination].first { $0.positionAlong == inverse }?.index }
        } else {
            storage = link(source, relationshipIndex, destination, inverse)
        }
        return Relationship(
            index: relationshipIndex, name: declaration.name, source: source, destination: destination, isToMany: declaration.isToMany,
            isOrdered: declaration.isOrdered, deleteRule: declaration.deleteRule, isRequired: declaration.isRequired,
            minCount: declaration.minCount, maxCount: declaration.maxCount, inverse: inverse, storage: storage, positionField: position)
    }

    /// One end of a relationship: an entity index and a relationship index.
    private struct End: Hashable {
        let entity: Int
        let index: Int
    }

    /// The name of a link table, derived from the end that owns it. Two ends can have the same name, such as `A.b_c` and `A_b.c`.
    private func plainName(_ end: End) -> String {
        "\(description.entities[end.entity].name)_\(declared[end.entity][end.index].name)"
    }

    /// The end whose name sorts first owns the table, so that both ends resolve to the same table at every start.
    private mutating func link(_ source: Int, _ relationshipIndex: Int, _ destination: Int, _ inverse: Int?) -> Relationship.Storage {
        let mine = End(entity: source, index: relationshipIndex)
        let theirs = inverse.map { End(entity: destination, index: $0) }
        let isReversed =
            theirs.map { theirs in
                let (theirName, myName) = (plainName(theirs), plainName(mine))
                return theirName == myName
                    ? description.entities[destination].name < description.entities[source].name : theirName < myName
            } ?? false
        let owner = isReversed ? theirs ?? mine : mine
        if let table = linkOwners.firstIndex(of: owner) { return .link(table: table, isReversed: isReversed) }
        let isOrdered = declared[source][relationshipIndex].isOrdered
        let isBackOrdered = theirs != mine && inverse.map { declared[destination][$0].isOrdered } ?? false
        let name = plainName(owner)
        links.append(
            LinkTable(
                index: links.count, name: name,
                // Earlier versions did not distinguish the two ends.
                sharedName: theirs != mine && theirs.map(plainName) == plainName(mine) ? name : nil,
                source: isReversed ? destination : source, target: isReversed ? source : destination,
                isSymmetric: theirs == mine, ordersTargets: isReversed ? isBackOrdered : isOrdered,
                ordersSources: isReversed ? isOrdered : isBackOrdered))
        linkOwners.append(owner)
        return .link(table: links.count - 1, isReversed: isReversed)
    }

    /// Renames link tables with equal names, independently of the order of declaration. All other names stay unchanged.
    private mutating func nameLinks() {
        var taken = Set<String>()
        var shared = Set(links.compactMap(\.sharedName))
        for link in links where !taken.insert(link.name).inserted { shared.insert(link.name) }
        let ambiguous = links.indices.filter { shared.contains(links[$0].name) }
        func entity(_ link: Int) -> String { description.entities[linkOwners[link].entity].name }
        for link in ambiguous.sorted(by: { (links[$0].name, entity($0)) < (links[$1].name, entity($1)) }) {
            let plain = links[link].name
            var name = "\(plain)_\(entity(link).utf8.count)"
            while !taken.insert(name).inserted { name += "_" }
            links[link].name = name
            links[link].sharedName = plain
        }
    }
}
