/// Text as the content of an element, or as the value of an attribute in double quotes, of SVG and HTML.
package struct MarkupText: Sendable, CustomStringConvertible {
    package let description: String

    /// Replaces the characters that have a meaning in markup. Control characters that XML does not permit become U+FFFD.
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
            case "\0"..<" ", "\u{fffe}", "\u{ffff}": result.append("\u{fffd}")
            default: result.append(scalar)
            }
        }
        description = String(result)
    }
}
