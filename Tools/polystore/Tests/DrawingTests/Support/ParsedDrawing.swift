import Foundation
import Testing

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// The elements of an SVG document, as a parser of XML reads them.
struct ParsedDrawing {
    struct Element {
        var name: String
        var attributes: [String: String]
        var text = ""
        /// The names and classes of the elements around it, from the outermost one.
        var path: [String]

        func number(_ attribute: String) -> Double { attributes[attribute].flatMap(Double.init) ?? .nan }
    }

    let elements: [Element]

    /// Parses a document; throws if it is not well-formed.
    init(_ svg: String) throws {
        let reader = Reader()
        let parser = XMLParser(data: Data(svg.utf8))
        parser.delegate = reader
        guard parser.parse() else { throw parser.parserError ?? CocoaError(.fileReadCorruptFile) }
        elements = reader.elements
    }

    func all(_ name: String, in ancestor: String? = nil) -> [Element] {
        elements.filter { $0.name == name && ancestor.map($0.path.contains) ?? true }
    }

    /// The texts of the elements of a name.
    func texts(_ name: String = "text") -> [String] { all(name).map(\.text) }

    /// The rectangles of boxes.
    var boxes: [Rectangle] {
        elements.filter { $0.name == "rect" && $0.path.contains { $0.hasPrefix("g.box") } }.map {
            Rectangle(x: $0.number("x"), y: $0.number("y"), width: $0.number("width"), height: $0.number("height"))
        }
    }

    /// The size of the drawing.
    var frame: Rectangle {
        let svg = all("svg").first
        return Rectangle(x: 0, y: 0, width: svg?.number("width") ?? .nan, height: svg?.number("height") ?? .nan)
    }

    private final class Reader: NSObject, XMLParserDelegate {
        var elements: [Element] = []
        private var open: [Int] = []
        private var path: [String] = []

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?, attributes: [String: String]
        ) {
            open.append(elements.count)
            elements.append(Element(name: name, attributes: attributes, path: path))
            path.append(attributes["class"].map { "\(name).\($0)" } ?? name)
        }

        func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
            open.removeLast()
            path.removeLast()
        }

        func parser(_ parser: XMLParser, foundCharacters text: String) {
            if let last = open.last { elements[last].text += text }
        }
    }
}

struct Rectangle {
    var x: Double
    var y: Double
    var width: Double
    var height: Double

    func overlaps(_ other: Rectangle) -> Bool {
        x < other.x + other.width && other.x < x + width && y < other.y + other.height && other.y < y + height
    }

    func contains(_ other: Rectangle) -> Bool {
        x <= other.x && y <= other.y && other.x + other.width <= x + width && other.y + other.height <= y + height
    }
}

/// Compares a drawing with a file. POLYSTORE_WRITE_DRAWINGS=1 writes the file; look at it in a browser before you commit it.
func expectGolden(_ svg: String, _ name: String) throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Golden")
    let file = folder.appendingPathComponent("\(name).svg")
    if ProcessInfo.processInfo.environment["POLYSTORE_WRITE_DRAWINGS"] == "1" { try svg.write(to: file, atomically: true, encoding: .utf8) }
    let isEqual = try String(contentsOf: file, encoding: .utf8) == svg
    #expect(isEqual, "The drawing differs from Golden/\(name).svg. POLYSTORE_WRITE_DRAWINGS=1 writes it.")
}

/// Texts that are markup, control characters, or neither short nor of one direction.
let hostileTexts = [
    "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "a&b;&amp;&#0;", "]]>", "<!--", "'\"`",
    "\0\u{1}\u{8}\u{b}\u{1f}\u{7f}\u{85}",
    "\u{fffe}\u{ffff}\u{1fffe}", "\u{202e}evil\u{202c}", "\u{2066}x", "שלום עולם", "مرحبا", "数据库数据库数据库数据库", "👩‍👩‍👧‍👦👍🏽", "",
    " ", "\n\r\t", "javascript:alert(1)", String(repeating: "m", count: 2_000), "a" + String(repeating: "\u{301}", count: 1_000),
]
