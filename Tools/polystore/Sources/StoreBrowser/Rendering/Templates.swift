import BrowserDrawing
import Mustache

/// The values of a template, by name: texts, Booleans, lists and further values.
typealias View = [String: Any]

/// Replaces the characters of markup in values.
///
/// The escape of the library compares characters: a quotation mark that a combining character follows is another character to it, and
/// would end an attribute. This one compares scalars.
struct MarkupContentType: MustacheContentType {
    static let name = "MARKUP"

    func escapeText(_ text: String) -> String { MarkupText(text).description }
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
