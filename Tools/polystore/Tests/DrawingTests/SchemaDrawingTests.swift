import BrowserDrawing
import Testing

@Suite struct SchemaDrawingTests {
    private static let shapes: [(String, SchemaGraph)] =
        [
            ("none", SchemaGraph(entities: [], relationships: [])), ("one", SchemaGraph(entities: [.init("Only")], relationships: [])),
            ("atlas", .atlas), ("mixed", .mixed), ("star", .star(70)), ("ring of 1", .ring(1)), ("ring of 2", .ring(2)),
            ("ring of 30", .ring(30)),
            ("not connected", SchemaGraph(entities: (0..<70).map { .init("E\($0)") }, relationships: [])),
        ] + (1...12).map { ("random \($0)", .random($0 * 6, seed: UInt64($0))) }

    @Test(arguments: shapes) func boxesDoNotOverlapAndLieInTheDrawing(_ name: String, _ graph: SchemaGraph) throws {
        let drawing = try ParsedDrawing(SchemaDrawing(graph, limit: 500).svg)
        let boxes = drawing.boxes
        #expect(boxes.count == graph.entities.count)
        for (index, box) in boxes.enumerated() {
            #expect(drawing.frame.contains(box), "\(name): box \(index)")
            for other in boxes.dropFirst(index + 1) { #expect(!box.overlaps(other), "\(name): box \(index)") }
        }
    }

    @Test(arguments: shapes) func linesDoNotPassThroughBoxes(_ name: String, _ graph: SchemaGraph) throws {
        let drawing = try ParsedDrawing(SchemaDrawing(graph, limit: 500).svg)
        let boxes = drawing.boxes
        for path in drawing.all("path").filter({ $0.attributes["class"] == nil }) {
            for (start, end, y) in Self.levelParts(path.attributes["d"] ?? "") {
                let part = Rectangle(x: start, y: y - 0.5, width: end - start, height: 1)
                #expect(!boxes.contains { $0.overlaps(part) }, "\(name): \(path.attributes["d"] ?? "")")
            }
        }
    }

    /// Returns the horizontal parts of a path, which lead past the boxes of a column.
    private static func levelParts(_ path: String) -> [(Double, Double, Double)] {
        var (found, point, numbers) = ([(Double, Double, Double)](), (x: 0.0, y: 0.0), [Double]())
        for token in path.split(separator: " ") {
            let isCommand = token.first?.isLetter == true
            if isCommand { numbers = [] }
            numbers.append(Double(isCommand ? token.dropFirst() : token) ?? .nan)
            if token.first == "H" {
                found.append((point.x, numbers[0], point.y))
                point.x = numbers[0]
            } else if numbers.count.isMultiple(of: 2) {
                point = (numbers[numbers.count - 2], numbers[numbers.count - 1])
            }
        }
        return found
    }

    @Test func twoHundredEntitiesAreDrawnAroundTheOneWithTheMostConnections() throws {
        var graph = SchemaGraph.star(199)
        graph.entities.swapAt(0, 150)
        let drawing = SchemaDrawing(graph)
        let parsed = try ParsedDrawing(drawing.svg)
        #expect(drawing.shownEntities == 80)
        #expect(drawing.entities == 200)
        #expect(parsed.boxes.count == 80)
        #expect(parsed.texts().contains("Hub"))
        #expect(parsed.texts("desc") == ["80 of 200 entities, 79 relationships. Each box lists attributes and relationships of an entity."])
    }

    @Test func anEntityIsDrawnWithThoseConnectedWithIt() throws {
        let parsed = try ParsedDrawing(SchemaDrawing(.mixed, around: "Street").svg)
        let names = parsed.all("text").filter { $0.attributes["class"] == "name" }.map(\.text)
        #expect(names == ["Owner", "House", "Street"])
        #expect(parsed.elements.filter { $0.attributes["class"] == "box focus" }.count == 1)
        // A name that the schema does not have does not lead to an empty page.
        #expect(try ParsedDrawing(SchemaDrawing(.mixed, around: "Streets").svg).boxes.count == 8)
    }

    @Test(arguments: [5_000]) func manyEntitiesWithoutConnectionsAreCutToTheLimit(_ count: Int) throws {
        let graph = SchemaGraph(entities: (0..<count).map { .init("Entity\($0)") }, relationships: [])
        #expect(try ParsedDrawing(SchemaDrawing(graph, limit: 20).svg).boxes.count == 20)
    }

    @Test func relationshipsShowTheNumberOfObjectsAtTheirEnds() throws {
        let parsed = try ParsedDrawing(SchemaDrawing(.mixed).svg)
        let house = try #require(parsed.elements.firstIndex { $0.name == "title" && $0.text == "Owner.house / owners" })
        let counts = parsed.elements[house...].prefix { $0.text != "House.street" }.filter { $0.name == "text" }.map(\.text)
        #expect(Set(counts) == ["1", "1..4"])
        #expect(parsed.texts().contains("House 1"))
        #expect(parsed.texts().contains("Owner 1..4"))
        #expect(parsed.texts("title").contains("Kitten is a Cat"))
        #expect(parsed.texts("title").contains("Animal (abstract)"))
    }

    @Test func namesLeadToTheirPagesInTheSameServerOnly() throws {
        let links = [
            "/entity/A", "?view=b", "#c", "//evil.example/", "/\\evil.example", "javascript:alert(1)", "https://evil.example/", "",
        ]
        let graph = SchemaGraph(entities: links.enumerated().map { .init("E\($0)", link: $1) }, relationships: [])
        #expect(try ParsedDrawing(SchemaDrawing(graph).svg).all("a").map { $0.attributes["href"] } == ["/entity/A", "?view=b", "#c"])
    }

    @Test(arguments: hostileTexts) func anyNameGivesAWellFormedDrawing(_ text: String) throws {
        let graph = SchemaGraph(
            entities: [
                .init(text, attributes: [.init(text, text)], note: text, link: "/entity?name=\(text)"), .init("B", parent: text),
                .init(text),
            ],
            relationships: [
                .init(text, from: text, to: "B", count: text, inverse: .init(text, count: text)),
                .init(text, from: text, to: text, count: "*"),
                .init("missing", from: text, to: "Absent", count: "1"),
            ])
        let drawing = SchemaDrawing(graph, around: text).svg
        let parsed = try ParsedDrawing(drawing)
        #expect(Set(parsed.elements.map(\.name)).isSubset(of: ["svg", "title", "desc", "g", "rect", "line", "path", "text", "a"]))
        #expect(parsed.elements.allSatisfy { $0.attributes.keys.allSatisfy { !$0.hasPrefix("on") && $0 != "style" } })
        #expect(drawing.utf8.count < 200_000)
        #expect(parsed.boxes.allSatisfy { $0.width <= 320 })
    }

    @Test func anEntityWithTwoHundredPropertiesShowsTheFirstOfThem() throws {
        let attributes = (0..<200).map { SchemaGraph.Attribute("a\($0)", "string") }
        let relationships = (0..<40).map { SchemaGraph.Relationship("r\($0)", from: "Wide", to: "B", count: "*") }
        let parsed = try ParsedDrawing(
            SchemaDrawing(.init(entities: [.init("Wide", attributes: attributes), .init("B")], relationships: relationships)).svg)
        #expect(parsed.texts().contains("… 188 more attributes"))
        #expect(parsed.texts().contains("… 28 more relationships"))
        #expect(parsed.boxes.allSatisfy { $0.height < 600 })
        #expect(parsed.all("g").filter { $0.attributes["class"] == "link" }.count == 40)
    }

    @Test func theSameSchemaGivesTheSameDrawing() throws {
        #expect(SchemaDrawing(.random(60, seed: 5)).svg == SchemaDrawing(.random(60, seed: 5)).svg)
        try expectGolden(SchemaDrawing(.atlas).svg, "atlas")
        try expectGolden(SchemaDrawing(.mixed).svg, "mixed")
    }

    @Test func aTreeIsDrawnWithoutCrossings() throws {
        // Listed so that the order of the entities would cross.
        let leaves = (0..<12).map { SchemaGraph.Entity("L\($0)", parent: "P\($0 % 3)") }
        let graph = SchemaGraph(entities: [.init("Root")] + (0..<3).map { .init("P\($0)", parent: "Root") } + leaves, relationships: [])
        let parsed = try ParsedDrawing(SchemaDrawing(graph).svg)
        let names = parsed.all("text").filter { $0.attributes["class"] == "name" }
        let rows = names.filter { $0.text.hasPrefix("L") }.sorted { $0.number("y") < $1.number("y") }.map {
            Int($0.text.dropFirst()).map { $0 % 3 } ?? 0
        }
        let blocks = rows.enumerated().count { $0.offset == 0 || rows[$0.offset - 1] != $0.element }
        #expect(blocks == 3)
    }
}
