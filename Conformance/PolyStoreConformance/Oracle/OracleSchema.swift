import PolyStoreBackend
import PolyStoreSearch
import SeededRandom

/// Draws schemas.
enum OracleSchema {
    /// - Parameter isSearched: Whether every entity has texts with full-text indexes.
    static func draw(_ random: inout SplitMix64, isSearched: Bool = false) throws -> ResolvedSchema {
        let count = 1 + random.below(3)
        var properties = (0..<count).map { _ in attributes(&random) }
        var texts = properties.map { _ in [String]() }
        if isSearched {
            for entity in properties.indices {
                texts[entity] = (0..<1 + random.below(3)).map { "t\($0)" }
                for name in texts[entity] { properties[entity].append(.attribute(name, .string, isOptional: random.below(3) > 0)) }
            }
        }
        for number in 0..<random.below(4) { addRelationship(number, &properties, &random) }
        let entities = properties.enumerated().map { index, properties in
            EntityDescription(
                name: "E\(index)", properties: properties, indexes: indexes(properties, &random),
                searchIndexes: isSearched ? searchIndexes(texts[index], &random) : [])
        }
        return try ResolvedSchema(SchemaDescription(name: "Oracle", entities: entities))
    }

    private static func searchIndexes(_ texts: [String], _ random: inout SplitMix64) -> [SearchIndexDescription] {
        ["", "other"].prefix(1 + random.below(2)).map { name in
            let fields = random.pick(1 + random.below(texts.count), of: texts)
            let weights = fields.map { _ in random.pick([1, 1, 2, 0.5, 10, 0.1]) }
            return SearchIndexDescription(
                name: name, fields: fields, weights: random.once(in: 2) ? nil : weights,
                options: SearchOptions(stemming: random.once(in: 3) ? .english : .none))
        }
    }

    private static func attributes(_ random: inout SplitMix64) -> [PropertyDescription] {
        (0..<1 + random.below(6)).map { number in
            let type = random.pick(AttributeType.allCases)
            let use = random.below(8)
            return .attribute(
                AttributeDescription(
                    name: random.once(in: 12) ? "order \"\(number)\"" : "a\(number)", type: type, isOptional: random.below(3) > 0,
                    isUnique: use == 0 && type != .bool, isIndexed: use < 4))
        }
    }

    private static func addRelationship(_ number: Int, _ properties: inout [[PropertyDescription]], _ random: inout SplitMix64) {
        let source = random.below(properties.count)
        let destination = random.below(properties.count)
        let (name, back) = ("r\(number)", "r\(number)back")
        func add(_ entity: Int, _ name: String, to other: Int, many: Bool, inverse: String?) {
            let relationship = RelationshipDescription(
                name: name, destination: "E\(other)", isToMany: many, isOrdered: many && random.once(in: 3), inverse: inverse)
            properties[entity].insert(.relationship(relationship), at: random.below(properties[entity].count + 1))
        }
        switch random.below(7) {
        case 0: add(source, name, to: destination, many: false, inverse: nil)
        case 1:
            add(source, name, to: destination, many: false, inverse: back)
            add(destination, back, to: source, many: true, inverse: nil)
        case 2:
            add(source, name, to: destination, many: true, inverse: back)
            add(destination, back, to: source, many: true, inverse: name)
        case 3: add(source, name, to: source, many: true, inverse: name)
        case 4:
            add(source, name, to: destination, many: false, inverse: back)
            add(destination, back, to: source, many: false, inverse: nil)
        case 5: add(source, name, to: source, many: false, inverse: name)
        default: add(source, name, to: destination, many: true, inverse: nil)
        }
    }

    private static func indexes(_ properties: [PropertyDescription], _ random: inout SplitMix64) -> [IndexDescription] {
        let fields = properties.filter { if case .relationship(let relationship) = $0 { !relationship.isToMany } else { true } }
        // A copy of the generator, so that the cases without such an index are those of earlier releases.
        var copy = random
        let ofJSON = jsonIndex(fields, &copy).map { [$0] } ?? []
        guard fields.count > 1 else { return ofJSON }
        return ofJSON
            + (0..<random.below(3)).map { _ in
                let picked = random.pick(2 + random.below(2), of: fields)
                let isScarce = picked.contains { if case .attribute(let attribute) = $0 { attribute.type != .bool } else { false } }
                return IndexDescription(fields: picked.map(\.name), isUnique: isScarce && random.once(in: 3))
            }
    }

    /// Draws an index that contains a field of a JSON attribute, if there is one.
    private static func jsonIndex(_ fields: [PropertyDescription], _ random: inout SplitMix64) -> IndexDescription? {
        let attributes = fields.filter { if case .attribute(let attribute) = $0 { attribute.type == .json } else { false } }
        guard !attributes.isEmpty, random.once(in: 2) else { return nil }
        let keys = (0..<random.pick([0, 1, 1, 1, 2])).map { _ in random.pick(OracleJSON.keys) }
        let type = random.pick(AttributeType.allCases.filter { JSONField.accepts($0) && $0 != .json })
        var parts: [IndexDescription.Part] = [.json(random.pick(attributes).name, keys, as: type)]
        if random.once(in: 2) { parts.insert(.init(random.pick(fields).name), at: random.below(2)) }
        return IndexDescription(parts: parts)
    }
}

extension ResolvedSchema {
    /// Returns the schema with only the first full-text indexes of each entity.
    func keepingSearchIndexes(_ counts: [Int]) throws -> ResolvedSchema {
        var description = description
        for index in description.entities.indices {
            let entity = description.entities[index]
            description.entities[index].searchIndexes = Array(entity.searchIndexes.prefix(counts[index]))
        }
        return try ResolvedSchema(description)
    }

    /// A short description for the report of a failure.
    var inShort: String {
        entities.map { entity in
            let fields = entity.fields.map { field in "\(field.index) \(field.name) \(field.type)\(field.isOptional ? "?" : "")" }
            let indexes = entity.indexes.map { "\($0.isUnique ? "unique" : "index") \($0.readsJSON ? $0.name : "\($0.fields)")" }
            let relationships = entity.relationships.map {
                "\($0.name) to E\($0.destination) \($0.storage)\($0.isOrdered ? " ordered" : "")"
            }
            let searches = entity.searchIndexes.map { "text \($0.name) \($0.fields) weights \($0.weights) \($0.options.stemming)" }
            return "\(entity.name)(\((fields + indexes + searches + relationships).joined(separator: ", ")))"
        }.joined(separator: " ")
    }
}
