/// The diagram of a schema as SVG: a box for each entity, and lines for relationships and for specialisations.
///
/// Colours come from the classes of the elements; see ``DrawingStyle``. The same schema gives the same text.
package struct SchemaDrawing: Sendable {
    /// The drawing as an element `svg`, for the body of a page or for a file.
    package let svg: String
    /// The number of entities that the drawing shows.
    package let shownEntities: Int
    /// The number of entities of the schema.
    package let entities: Int

    /// Draws a schema.
    ///
    /// - Parameter focus: The name of an entity. Only it and the entities connected with it are drawn. Without it all are, unless they are more than `limit`;
    ///   then the drawing shows those nearest to the entity with the most connections.
    /// - Parameter limit: The largest number of entities.
    /// - Parameter id: The beginning of the ids of elements, which must be unique in a page.
    package init(_ graph: SchemaGraph, around focus: String? = nil, limit: Int = 80, id: String = "schema") {
        let part = graph.part(around: focus, limit: limit)
        let diagram = Diagram(part, focus: focus)
        entities = graph.entities.count
        shownEntities = part.entities.count
        svg = diagram.element(id: id, of: graph.entities.count).xml
    }
}

/// The boxes and lines of a diagram with their positions.
struct Diagram {
    private let boxes: [DiagramBox]
    private let lines: [DiagramLine]
    private let focus: String?
    private(set) var frames: [Frame] = []
    private var routes: [(line: DiagramLine, points: [(x: Double, y: Double)])] = []
    private(set) var size = DiagramLayout.Size(width: 0, height: 0)

    struct Frame {
        var x: Double
        var y: Double
        var width: Double
        var height: Double
    }

    private static let margin = 12.0
    private static let partGap = 36.0

    init(_ graph: SchemaGraph, focus: String?) {
        self.focus = focus
        let positions = graph.positions
        var ends = [[(name: String, target: String, count: String)]](repeating: [], count: graph.entities.count)
        for relationship in graph.relationships {
            guard let source = positions[relationship.source], let target = positions[relationship.target] else { continue }
            ends[source].append((relationship.name, relationship.target, relationship.count))
            guard let inverse = relationship.inverse, source != target || inverse.name != relationship.name else { continue }
            ends[target].append((inverse.name, relationship.source, inverse.count))
        }
        boxes = zip(graph.entities, ends).map { DiagramBox($0, relationships: $1) }
        lines = DiagramLine.lines(of: graph, positions)
        frames = boxes.map { Frame(x: 0, y: 0, width: $0.width, height: $0.height) }
        place()
    }

    /// Places the connected parts of the diagram in rows, the largest first.
    private mutating func place() {
        let parts = connectedParts().map { ($0, layout($0)) }
        let area = parts.reduce(0) { $0 + ($1.1.size.width + Self.partGap) * ($1.1.size.height + Self.partGap) }
        let width = max(1000, parts.map(\.1.size.width).max() ?? 0, (area * 1.4).squareRoot())
        var (x, y, rowHeight) = (Self.margin, Self.margin, 0.0)
        for (members, layout) in parts {
            if x > Self.margin, x + layout.size.width > width {
                (x, y, rowHeight) = (Self.margin, y + rowHeight + Self.partGap, 0)
            }
            put(members, layout, x, y)
            size.width = max(size.width, x + layout.size.width + loopWidth(members) + Self.margin)
            x += layout.size.width + loopWidth(members) + Self.partGap
            rowHeight = max(rowHeight, layout.size.height)
        }
        size.height = y + rowHeight + Self.margin
    }

    /// Returns the room at the right of a part for lines that lead from a box to itself.
    private func loopWidth(_ members: [Int]) -> Double {
        let own = Set(members)
        return lines.contains { $0.from.box == $0.to.box && own.contains($0.from.box) } ? 40 : 0
    }

    private mutating func put(_ members: [Int], _ layout: DiagramLayout, _ x: Double, _ y: Double) {
        for (index, box) in members.enumerated() {
            frames[box] = Frame(
                x: x + layout.corners[index].x, y: y + layout.corners[index].y, width: layout.widths[index], height: boxes[box].height)
        }
        let own = Set(members)
        let between = lines.filter { $0.from.box != $0.to.box && own.contains($0.from.box) }
        for (line, points) in zip(between, layout.routes) { routes.append((line, points.map { (x + $0.x, y + $0.y) })) }
    }

    private func layout(_ members: [Int]) -> DiagramLayout {
        let indexes = Dictionary(uniqueKeysWithValues: members.enumerated().map { ($1, $0) })
        let own = lines.compactMap { line -> DiagramLayout.Line? in
            guard line.from.box != line.to.box, let from = indexes[line.from.box], let to = indexes[line.to.box] else { return nil }
            return DiagramLayout.Line(from: (from, port(line.from)), to: (to, port(line.to)))
        }
        return DiagramLayout(boxes: members.map { .init(width: boxes[$0].width, height: boxes[$0].height) }, lines: own)
    }

    private func port(_ end: DiagramLine.End) -> Double { boxes[end.box].port(end.relationship) }

    private func connectedParts() -> [[Int]] {
        var part = Array(boxes.indices)
        func root(_ box: Int) -> Int {
            var box = box
            while part[box] != box { box = part[box] }
            return box
        }
        for line in lines {
            let (first, second) = (root(line.from.box), root(line.to.box))
            part[max(first, second)] = min(first, second)
        }
        let groups = Dictionary(grouping: boxes.indices, by: root)
        return groups.values.sorted { ($1.count, $0[0]) < ($0.count, $1[0]) }
    }
}

extension Diagram {
    func element(id: String, of total: Int) -> SVGElement {
        let (width, height) = (size.width.coordinate, size.height.coordinate)
        let title = SVGElement("title", ["id": "\(id)-title"], text: focus.map { "Schema around \(DiagramBox.shortened($0))" } ?? "Schema")
        let description = SVGElement("desc", ["id": "\(id)-desc"], text: summary(of: total))
        let shapes = routes.map { line, points in
            line.element(points, isForward: frames[line.from.box].x < frames[line.to.box].x)
        }
        let boxes = zip(boxes, frames).map { box, frame in
            box.element(x: frame.x, y: frame.y, width: frame.width, isFocus: box.entity.name == focus)
        }
        var parts = [title, description]
        if !lines.isEmpty {
            parts.append(SVGElement("g", ["class": "lines", "aria-hidden": "true", "font-size": "12"], shapes + loops))
        }
        if !boxes.isEmpty { parts.append(SVGElement("g", ["role": "list", "aria-label": "Entities"], boxes)) }
        return SVGElement(
            "svg",
            [
                "xmlns": "http://www.w3.org/2000/svg", "class": "diagram", "role": "group", "aria-labelledby": "\(id)-title",
                "aria-describedby": "\(id)-desc", "width": width, "height": height, "viewBox": "0 0 \(width) \(height)",
                "font-size": DiagramBox.fontSize.coordinate,
            ], parts)
    }

    private func summary(of total: Int) -> String {
        let relationships = lines.count { !$0.isSpecialisation }
        let part = boxes.count < total ? "\(boxes.count) of \(total) entities" : "\(total) \(total == 1 ? "entity" : "entities")"
        return
            "\(part), \(relationships) relationship\(relationships == 1 ? "" : "s"). Each box lists attributes and relationships of an entity."
    }

    /// Lines that lead from a box to itself, at its right side.
    private var loops: [SVGElement] {
        lines.filter { $0.from.box == $0.to.box }.map { line in
            let frame = frames[line.from.box]
            var (top, bottom) = (frame.y + port(line.from), frame.y + port(line.to))
            if abs(top - bottom) < 8 { (top, bottom) = (min(top, bottom) - 4, min(top, bottom) + 4) }
            return line.loop(x: frame.x + frame.width, from: top, to: bottom)
        }
    }
}
