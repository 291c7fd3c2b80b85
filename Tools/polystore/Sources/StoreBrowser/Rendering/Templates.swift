import Mustache

/// The values of a template, by name: texts, Booleans, lists and further values.
typealias View = [String: Any]

/// Replaces the characters of markup in values. All others stay, so that a form sends what it was given, except NUL, which no page can contain.
///
/// The escape of the library compares characters: a quotation mark that a combining character follows is another character to it, and
/// would end an attribute. This one compares bytes.
struct MarkupContentType: MustacheContentType {
    static let name = "MARKUP"

    func escapeText(_ text: String) -> String {
        guard text.utf8.contains(where: Self.isMarkup) else { return text }
        var result: [UInt8] = []
        result.reserveCapacity(text.utf8.count + 32)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): result += "&amp;".utf8
            case UInt8(ascii: "<"): result += "&lt;".utf8
            case UInt8(ascii: ">"): result += "&gt;".utf8
            case UInt8(ascii: "\""): result += "&quot;".utf8
            case UInt8(ascii: "'"): result += "&#39;".utf8
            case 0: result += "\u{fffd}".utf8
            default: result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func isMarkup(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"), 0: true
        default: false
        }
    }
}

/// The parsed templates of all pages.
struct Templates: Sendable {
    private let library: MustacheLibrary

    /// - Throws: The error of the parser for a template that is not valid.
    init() throws {
        MustacheContentTypes.register(MarkupContentType(), named: MarkupContentType.name)
        var library = MustacheLibrary()
        for (name, bytes) in Self.sources {
            let source = String(decoding: bytes, as: UTF8.self)
            // Without the last line break, which would be a part of the values that a template is used within.
            let text = "{{% CONTENT_TYPE: \(MarkupContentType.name)}}" + (source.hasSuffix("\n") ? source.dropLast() : source[...])
            library.register(try MustacheTemplate(string: text), named: name)
        }
        self.library = library
    }

    /// Returns a text that the values of a view were written into.
    func render(_ name: String, _ view: View) -> String {
        library.render(view, withTemplate: name) ?? ""
    }
}
