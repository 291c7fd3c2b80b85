/// A line of a diagram: a relationship with its inverse, or a specialisation.
struct DiagramLine {
    struct End {
        var box: Int
        /// The relationship that the box lists; nil for the heading of the box.
        var relationship: String?
        /// The number of objects at this end, such as "1", "0..1" or "*"; nil if no relationship leads to it.
        var count: String?
    }

    var from: End
    var to: End
    var isSpecialisation: Bool
    var label: String

    /// Returns the lines of a graph. A line leads from the end of the one object to that of the many, and from an entity to the one that inherits from it.
    static func lines(of graph: SchemaGraph, _ positions: [String: Int]) -> [DiagramLine] {
        var lines: [DiagramLine] = []
        for (box, entity) in graph.entities.enumerated() {
            guard let name = entity.parent, let parent = positions[name], parent != box else { continue }
            let label = DiagramBox.shortened("\(entity.name) is a \(name)")
            lines.append(DiagramLine(from: End(box: parent), to: End(box: box), isSpecialisation: true, label: label))
        }
        for relationship in graph.relationships {
            guard let source = positions[relationship.source], let target = positions[relationship.target] else { continue }
            let near = End(box: source, relationship: relationship.name, count: relationship.inverse?.count)
            let far = End(box: target, relationship: relationship.inverse?.name, count: relationship.count)
            let isToOne = relationship.count == "1" || relationship.count == "0..1"
            let inverse = relationship.inverse.map { " / \($0.name)" } ?? ""
            let label = DiagramBox.shortened("\(relationship.source).\(relationship.name)\(inverse)")
            lines.append(DiagramLine(from: isToOne ? far : near, to: isToOne ? near : far, isSpecialisation: false, label: label))
        }
        return lines
    }

    /// Returns the drawing of the line along points. These alternate between the right side of a column and the left side of the next one.
    ///
    /// - Parameter isForward: Whether the drawing begins at the left. In a cycle a line can lead to the left.
    func element(_ points: [(x: Double, y: Double)], isForward: Bool) -> SVGElement {
        guard let first = points.first, let last = points.last else { return SVGElement("g") }
        var path = "M\(first.x.coordinate) \(first.y.coordinate)"
        for (index, (start, end)) in zip(points, points.dropFirst()).enumerated() {
            let middle = ((start.x + end.x) / 2).coordinate
            path +=
                index.isMultiple(of: 2)
                ? " C\(middle) \(start.y.coordinate) \(middle) \(end.y.coordinate) \(end.x.coordinate) \(end.y.coordinate)"
                : " H\(end.x.coordinate)"
        }
        let (left, right) = isForward ? (from, to) : (to, from)
        return group(path, marks: mark(left, at: first, direction: -1) + mark(right, at: last, direction: 1))
    }

    /// Returns the drawing of a line from a box to itself, at the right side of the box.
    func loop(x: Double, from top: Double, to bottom: Double) -> SVGElement {
        let (out, start, end) = ((x + 46).coordinate, top.coordinate, bottom.coordinate)
        let path = "M\(x.coordinate) \(start) C\(out) \(start) \(out) \(end) \(x.coordinate) \(end)"
        return group(path, marks: arrow(at: (x, bottom), direction: -1) + count(to.count, at: (x, min(top, bottom)), direction: -1))
    }

    private func group(_ path: String, marks: [SVGElement]) -> SVGElement {
        let kind = isSpecialisation ? "specialisation" : "link"
        return SVGElement("g", ["class": kind], [SVGElement("title", text: label), SVGElement("path", ["d": path])] + marks)
    }

    /// Returns the drawing at an end: an arrow if a relationship leads to it, and the number of objects.
    private func mark(_ end: End, at point: (x: Double, y: Double), direction: Double) -> [SVGElement] {
        if isSpecialisation { return end.box == from.box ? arrow(at: point, direction: direction) : [] }
        return end.count == nil ? [] : arrow(at: point, direction: direction) + count(end.count, at: point, direction: direction)
    }

    private func arrow(at point: (x: Double, y: Double), direction: Double) -> [SVGElement] {
        let (length, half) = isSpecialisation ? (12.0, 7.0) : (8.0, 4.0)
        let back = (point.x - direction * length).coordinate
        let (x, y) = (point.x.coordinate, point.y.coordinate)
        let path = "M\(x) \(y) L\(back) \((point.y - half).coordinate) L\(back) \((point.y + half).coordinate) Z"
        return [SVGElement("path", ["class": "arrow", "d": path])]
    }

    private func count(_ text: String?, at point: (x: Double, y: Double), direction: Double) -> [SVGElement] {
        guard let text else { return [] }
        return [
            SVGElement(
                "text",
                [
                    "x": (point.x - direction * 10).coordinate, "y": (point.y - 5).coordinate,
                    "text-anchor": direction < 0 ? "start" : "end",
                ], text: TextMeasure.cut(text, to: 60, size: 12))
        ]
    }
}
