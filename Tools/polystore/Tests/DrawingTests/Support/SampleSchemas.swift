import BrowserDrawing

extension SchemaGraph {
    /// The schema of the atlas.
    static let atlas = SchemaGraph(
        entities: [
            Entity(
                "Continent", attributes: [.init("code", "string, unique"), .init("name", "string")], note: "7", link: "/entity/Continent"),
            Entity(
                "Country",
                attributes: [
                    .init("iso", "string, unique"), .init("name", "string, indexed"), .init("capital", "string?"),
                    .init("areaKm2", "double"),
                    .init("population", "int64"), .init("languages", "json"),
                ], note: "252", link: "/entity/Country"),
            Entity("City", attributes: [.init("name", "string, indexed")], note: "34,006", link: "/entity/City"),
            Entity(
                "Airport", attributes: [.init("code", "string, unique"), .init("iata", "string?, indexed")], note: "28,298",
                link: "/entity/Airport"),
        ],
        relationships: [
            Relationship("countries", from: "Continent", to: "Country", count: "*", inverse: End("continent", count: "0..1")),
            Relationship("neighbours", from: "Country", to: "Country", count: "*", inverse: End("neighbours", count: "*")),
            Relationship("cities", from: "Country", to: "City", count: "*", inverse: End("country", count: "1")),
            Relationship("airports", from: "Country", to: "Airport", count: "*", inverse: End("country", count: "1")),
        ])

    /// A schema with subentities, a cycle, a one-way relationship and an entity without connections.
    static let mixed = SchemaGraph(
        entities: [
            Entity("Animal", attributes: [.init("name", "string")], isAbstract: true),
            Entity("Dog", attributes: [.init("breed", "string")], parent: "Animal"),
            Entity("Cat", parent: "Animal"), Entity("Kitten", parent: "Cat"), Entity("Owner"), Entity("House"), Entity("Street"),
            Entity("Setting"),
        ],
        relationships: [
            Relationship("owner", from: "Animal", to: "Owner", count: "0..1", inverse: End("animals", count: "*")),
            Relationship("house", from: "Owner", to: "House", count: "1", inverse: End("owners", count: "1..4")),
            Relationship("street", from: "House", to: "Street", count: "1"),
            Relationship("mayor", from: "Street", to: "Owner", count: "0..1"),
            Relationship("mother", from: "Cat", to: "Cat", count: "0..1", inverse: End("children", count: "*")),
            Relationship("next", from: "Street", to: "Street", count: "0..1"),
        ])

    /// A schema of entities that are connected at random.
    static func random(_ count: Int, seed: UInt64) -> SchemaGraph {
        var state = seed &* 2_862_933_555_777_941_757 &+ 3_037_000_493
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % max(1, bound)
        }
        var graph = SchemaGraph(entities: [], relationships: [])
        for index in 0..<count {
            let attributes = (0..<next(16)).map { Attribute("attribute\($0)", "string") }
            let parent = next(6) == 0 && index > 0 ? "E\(next(index))" : nil
            graph.entities.append(Entity("E\(index)", attributes: attributes, parent: parent, link: "/entity/E\(index)"))
        }
        for index in 0..<count * 5 / 4 {
            let (source, target) = ("E\(next(count))", "E\(next(count))")
            let inverse = next(2) == 0 ? End("back\(index)", count: "*") : nil
            graph.relationships.append(
                Relationship("r\(index)", from: source, to: target, count: next(2) == 0 ? "*" : "0..1", inverse: inverse))
        }
        return graph
    }

    static func star(_ count: Int) -> SchemaGraph {
        SchemaGraph(
            entities: [Entity("Hub")] + (0..<count).map { Entity("Leaf\($0)") },
            relationships: (0..<count).map {
                Relationship("r\($0)", from: "Hub", to: "Leaf\($0)", count: "*", inverse: End("hub", count: "1"))
            })
    }

    static func ring(_ count: Int) -> SchemaGraph {
        SchemaGraph(
            entities: (0..<count).map { Entity("R\($0)") },
            relationships: (0..<count).map { Relationship("next", from: "R\($0)", to: "R\(($0 + 1) % count)", count: "1") })
    }
}
