/// The box of an entity: its name, its attributes, and its relationships.
struct DiagramBox {
    let entity: SchemaGraph.Entity
    let rows: [Row]
    let width: Double
    var height: Double { Self.titleHeight + Double(rows.count) * Self.rowHeight + (rows.isEmpty ? 0 : 2 * Self.padding) }

    /// The row of each relationship; those that the box does not show have the last row.
    private let rowOfRelationship: [String: Int]

    struct Row {
        var name: String
        var detail: String
        /// The class of the row in style sheets.
        var kind: String
        /// The name and detail without cuts.
        var full: String
    }

    static let titleHeight = 30.0
    static let rowHeight = 18.0
    static let padding = 5.0
    static let fontSize = 13.0
    static let widest = 320.0
    /// The number of attributes, and of relationships, that a box shows.
    static let mostRows = 12

    /// Creates the box of an entity.
    ///
    /// - Parameter relationships: The names of its relationships, each with the entity to which it leads and the number of objects there.
    init(_ entity: SchemaGraph.Entity, relationships: [(name: String, target: String, count: String)]) {
        self.entity = entity
        let attributes = entity.attributes.prefix(Self.mostRows).map { Self.row($0.name, $0.type, "attribute") }
        let links = relationships.prefix(Self.mostRows).map { Self.row($0.name, "\($0.target) \($0.count)", "relationship") }
        var rows = attributes + Self.rest(entity.attributes.count - attributes.count, "attribute")
        let first = rows.count
        rows += links + Self.rest(relationships.count - links.count, "relationship")
        self.rows = rows
        let numbered = relationships.enumerated().map { ($1.name, first + min($0, Self.mostRows)) }
        rowOfRelationship = Dictionary(numbered, uniquingKeysWith: { first, _ in first })
        let title = TextMeasure.width(Self.title(entity), size: Self.fontSize * 1.1) + Self.noteWidth(entity)
        let needed = rows.map { TextMeasure.width($0.name, size: Self.fontSize) + TextMeasure.width($0.detail, size: Self.fontSize) + 40 }
        width = min(Self.widest, max(120, title + 30, needed.max() ?? 0)).rounded(.up)
    }

    /// Returns the distance of the middle of a relationship's row from the upper end of the box.
    func port(_ relationship: String?) -> Double {
        guard let relationship, let row = rowOfRelationship[relationship] else { return Self.titleHeight / 2 }
        return Self.titleHeight + Self.padding + (Double(row) + 0.5) * Self.rowHeight
    }

    private static func row(_ name: String, _ detail: String, _ kind: String) -> Row {
        Row(
            name: TextMeasure.cut(name, to: 150, size: fontSize), detail: TextMeasure.cut(detail, to: 130, size: fontSize), kind: kind,
            full: shortened("\(name): \(detail)"))
    }

    private static func rest(_ count: Int, _ noun: String) -> [Row] {
        guard count > 0 else { return [] }
        let text = "… \(count) more \(noun)\(count == 1 ? "" : "s")"
        return [Row(name: text, detail: "", kind: "more", full: text)]
    }

    private static func title(_ entity: SchemaGraph.Entity) -> String { TextMeasure.cut(entity.name, to: 190, size: fontSize * 1.1) }

    private static func noteWidth(_ entity: SchemaGraph.Entity) -> Double {
        entity.note.map { min(TextMeasure.width($0, size: fontSize), 90) + 12 } ?? 0
    }

    /// Returns a text for a hint, in which the end of a very long one is cut.
    static func shortened(_ text: String) -> String {
        text.unicodeScalars.count > 300 ? String(String.UnicodeScalarView(text.unicodeScalars.prefix(300))) + "…" : text
    }
}

extension DiagramBox {
    /// Returns the box with its upper left corner at a point.
    func element(x: Double, y: Double, width: Double, isFocus: Bool) -> SVGElement {
        let classes = "box" + (entity.isAbstract ? " abstract" : "") + (isFocus ? " focus" : "")
        var children = [
            SVGElement("rect", ["x": x.coordinate, "y": y.coordinate, "width": width.coordinate, "height": height.coordinate, "rx": "6"])
        ]
        children += heading(x, y, width)
        if !rows.isEmpty {
            let line = (y + Self.titleHeight).coordinate
            children.append(SVGElement("line", ["x1": x.coordinate, "y1": line, "x2": (x + width).coordinate, "y2": line]))
        }
        for (index, row) in rows.enumerated() {
            let baseline = y + Self.titleHeight + Self.padding + (Double(index) + 0.5) * Self.rowHeight + 4.5
            children.append(element(row, x, baseline, width))
        }
        return SVGElement("g", ["class": classes, "role": "listitem"], children)
    }

    private func heading(_ x: Double, _ y: Double, _ width: Double) -> [SVGElement] {
        let baseline = (y + Self.titleHeight / 2 + 5).coordinate
        let size = (Self.fontSize * 1.1).coordinate
        let label = SVGElement(
            "text", ["class": "name", "x": (x + 10).coordinate, "y": baseline, "font-size": size], text: Self.title(entity))
        let hint = SVGElement("title", text: Self.shortened(entity.name) + (entity.isAbstract ? " (abstract)" : ""))
        let note = entity.note.map { note in
            SVGElement(
                "text", ["class": "note", "x": (x + width - 10).coordinate, "y": baseline, "text-anchor": "end"],
                text: TextMeasure.cut(note, to: 90, size: Self.fontSize))
        }
        guard let link = MarkupText.localLink(entity.link) else {
            return [SVGElement("g", [:], [hint, label])] + (note.map { [$0] } ?? [])
        }
        return [SVGElement("a", ["href": link], [hint, label])] + (note.map { [$0] } ?? [])
    }

    private func element(_ row: Row, _ x: Double, _ baseline: Double, _ width: Double) -> SVGElement {
        let name = SVGElement("text", ["x": (x + 10).coordinate, "y": baseline.coordinate], text: row.name)
        guard !row.detail.isEmpty else { return SVGElement("g", ["class": row.kind], [name]) }
        let detail = SVGElement(
            "text", ["class": "detail", "x": (x + width - 10).coordinate, "y": baseline.coordinate, "text-anchor": "end"], text: row.detail)
        return SVGElement("g", ["class": row.kind], [SVGElement("title", text: row.full), name, detail])
    }
}
