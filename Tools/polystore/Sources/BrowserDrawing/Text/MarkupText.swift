/// Text as the content of an element, or as the value of an attribute in double quotes, of SVG and HTML.
package struct MarkupText: Sendable, CustomStringConvertible {
    package let description: String

    /// Replaces the characters that have a meaning in markup. Characters that XML does not permit, and those that change the direction of the text around them,
    /// become U+FFFD.
    package init(_ text: String) {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result.append(contentsOf: "&amp;".unicodeScalars)
            case "<": result.append(contentsOf: "&lt;".unicodeScalars)
            case ">": result.append(contentsOf: "&gt;".unicodeScalars)
            case "\"": result.append(contentsOf: "&quot;".unicodeScalars)
            case "'": result.append(contentsOf: "&#39;".unicodeScalars)
            case "\t", "\n", "\r": result.append(scalar)
            case _ where Self.isReplaced(scalar): result.append("\u{fffd}")
            default: result.append(scalar)
            }
        }
        description = String(result)
    }

    private static func isReplaced(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7f..<0xa0, 0x61c, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069: true
        case let value: value & 0xfffe == 0xfffe
        }
    }

    /// Returns a link if it leads to the same server: a path, a query or a fragment; nil for any other text, such as one with a scheme.
    static func localLink(_ link: String?) -> String? {
        guard let link, let first = link.unicodeScalars.first else { return nil }
        let second = link.unicodeScalars.dropFirst().first
        return first == "?" || first == "#" || first == "/" && second != "/" && second != "\\" ? link : nil
    }
}
