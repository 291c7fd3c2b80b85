/// An element of an SVG document with its attributes and children.
struct SVGElement {
    private let name: String
    private let attributes: [(name: String, value: String)]
    private let children: [SVGElement]
    private let text: String?

    /// Creates an element that contains others.
    init(_ name: String, _ attributes: KeyValuePairs<String, String?> = [:], _ children: [SVGElement] = []) {
        self.name = name
        self.attributes = attributes.compactMap { pair in pair.value.map { (pair.key, $0) } }
        self.children = children
        text = nil
    }

    /// Creates an element that contains a text.
    init(_ name: String, _ attributes: KeyValuePairs<String, String?> = [:], text: String) {
        self.name = name
        self.attributes = attributes.compactMap { pair in pair.value.map { (pair.key, $0) } }
        children = []
        self.text = text
    }

    /// The element as XML. Each element is on a line of its own.
    var xml: String {
        var result = ""
        write(to: &result, indentation: "")
        return result
    }

    private func write(to result: inout String, indentation: String) {
        result += "\(indentation)<\(name)"
        for attribute in attributes { result += " \(attribute.name)=\"\(MarkupText(attribute.value))\"" }
        if let text {
            result += ">\(MarkupText(text))</\(name)>\n"
        } else if children.isEmpty {
            result += "/>\n"
        } else {
            result += ">\n"
            for child in children { child.write(to: &result, indentation: indentation + " ") }
            result += "\(indentation)</\(name)>\n"
        }
    }
}

extension Double {
    /// The number as a coordinate, in tenths of a pixel.
    var coordinate: String {
        // A coordinate beyond this is off every screen, and would not fit in an integer.
        guard isFinite, magnitude < 1e9 else { return "0" }
        let tenths = Int((self * 10).rounded())
        let (whole, fraction) = (tenths.magnitude / 10, tenths.magnitude % 10)
        return (tenths < 0 ? "-" : "") + "\(whole)" + (fraction == 0 ? "" : ".\(fraction)")
    }
}
