/// The contents of the diagram of a schema: entities, and the relationships between them.
package struct SchemaGraph: Sendable {
    package var entities: [Entity]
    package var relationships: [Relationship]

    package init(entities: [Entity], relationships: [Relationship]) {
        self.entities = entities
        self.relationships = relationships
    }

    /// An entity or a subentity of a hierarchy.
    package struct Entity: Sendable {
        package var name: String
        /// The attributes that the entity declares, without those of its parent.
        package var attributes: [Attribute]
        /// The name of the entity that it specialises; nil if there is none.
        package var parent: String?
        package var isAbstract: Bool
        /// A text beside the name, such as the number of objects.
        package var note: String?
        /// The path to which the name leads, in the same server.
        package var link: String?

        package init(
            _ name: String, attributes: [Attribute] = [], parent: String? = nil, isAbstract: Bool = false, note: String? = nil,
            link: String? = nil
        ) {
            self.name = name
            self.attributes = attributes
            self.parent = parent
            self.isAbstract = isAbstract
            self.note = note
            self.link = link
        }
    }

    package struct Attribute: Sendable {
        package var name: String
        /// The type as it is shown, such as "string, unique".
        package var type: String

        package init(_ name: String, _ type: String) {
            self.name = name
            self.type = type
        }
    }

    /// A relationship and its inverse. It is listed once, from one of its ends.
    package struct Relationship: Sendable {
        package var name: String
        /// The name of the entity that declares the relationship.
        package var source: String
        package var target: String
        /// The number of objects at the target, such as "1", "0..1", "*" or "2..5".
        package var count: String
        /// The relationship of the target that leads back; nil if there is none.
        package var inverse: End?

        package init(_ name: String, from source: String, to target: String, count: String, inverse: End? = nil) {
            self.name = name
            self.source = source
            self.target = target
            self.count = count
            self.inverse = inverse
        }
    }

    package struct End: Sendable {
        package var name: String
        package var count: String

        package init(_ name: String, count: String) {
            self.name = name
            self.count = count
        }
    }
}

extension SchemaGraph {
    /// The position of each name; of entities with one name, the first one counts.
    var positions: [String: Int] {
        Dictionary(entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the names of at most `limit` entities in the order of the schema.
    ///
    /// Around an entity these are the entity and those that are connected with it. Without one, they are all, or those nearest to the entity with the most
    /// connections.
    func part(around name: String?, limit: Int) -> SchemaGraph {
        let positions = positions
        let focus = name.flatMap { positions[$0] }
        guard focus != nil || entities.count > limit else { return self }
        let neighbours = neighbours(positions)
        let start = focus ?? entities.indices.max { (neighbours[$0].count, $1) < (neighbours[$1].count, $0) } ?? 0
        let chosen = nearest(to: start, neighbours, limit: max(1, limit), onlyConnected: focus != nil)
        return SchemaGraph(
            entities: chosen.sorted().map { entities[$0] },
            relationships: relationships.filter { relationship in
                [relationship.source, relationship.target].allSatisfy { positions[$0].map(chosen.contains) ?? false }
            })
    }

    private func nearest(to start: Int, _ neighbours: [[Int]], limit: Int, onlyConnected: Bool) -> Set<Int> {
        var (chosen, queue, next) = (Set([start]), [start], 0)
        while next < queue.count, chosen.count < limit {
            for neighbour in neighbours[queue[next]] where chosen.count < limit && chosen.insert(neighbour).inserted {
                // Around a chosen entity, only its own connections are shown.
                if !onlyConnected { queue.append(neighbour) }
            }
            next += 1
        }
        if !onlyConnected { for index in entities.indices where chosen.count < limit { chosen.insert(index) } }
        return chosen
    }

    private func neighbours(_ positions: [String: Int]) -> [[Int]] {
        var found = [[Int]](repeating: [], count: entities.count)
        func connect(_ first: Int?, _ second: Int?) {
            guard let first, let second, first != second else { return }
            found[first].append(second)
            found[second].append(first)
        }
        for (index, entity) in entities.enumerated() { connect(entity.parent.flatMap { positions[$0] }, index) }
        for relationship in relationships { connect(positions[relationship.source], positions[relationship.target]) }
        return found
    }
}
