import Foundation

/// A source with the expansions of its macros in place, in the layout of swift-syntax.
struct ExpandedSource {
    /// What is written instead of a persisted property.
    enum Properties {
        /// The property with the attribute that `@Model` adds to it.
        case withAttribute
        /// The property with the accessors that the attribute adds to it.
        case withAccessors
    }

    private let source: String
    private let tokens: [SourceToken]
    private let properties: Properties
    private let expansions: [Expansion]
    private var edits: [(range: Range<Int>, text: String)] = []

    struct Misplaced: Error, CustomStringConvertible {
        let description: String
    }

    /// - Throws: ``Misplaced`` if a marker such as `@Attribute` generates code.
    static func text(of source: String, _ expansions: [Expansion], properties: Properties) throws -> String {
        if let marker = expansions.first(where: { [.peer, .freestanding].contains($0.role) && !$0.text.isEmpty }) {
            throw Misplaced(description: "\(marker.macro) is a marker, and generates: \(marker.text)")
        }
        var expanded = ExpandedSource(source: source, expansions: expansions, properties: properties)
        expanded.visitFile()
        return expanded.applyEdits()
    }

    private init(source: String, expansions: [Expansion], properties: Properties) {
        self.source = source
        self.expansions = expansions
        self.properties = properties
        tokens = SourceToken.tokens(of: source)
    }

    private static let attributes: Set<String> = ["Model", "Attribute", "Relationship", "Transient"]
    private static let declarations: Set<String> = ["Index", "Search", "Unique"]

    private func text(_ role: Expansion.Role, of declaration: String) -> String? {
        expansions.first { $0.role == role && $0.declaration == declaration && !$0.text.isEmpty }?.text
    }

    private func applyEdits() -> String {
        var bytes = Array(source.utf8)
        for (_, edit) in edits.enumerated().sorted(by: {
            ($0.element.range.lowerBound, $0.offset) > ($1.element.range.lowerBound, $1.offset)
        }) {
            bytes.replaceSubrange(edit.range, with: edit.text.utf8)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: The classes of a file

    private mutating func visitFile() {
        var index = 0
        while index < tokens.count {
            if tokens[index].text == "@" {
                index = visitAttribute(at: index)
            } else if tokens[index].text == "class", index + 1 < tokens.count, tokens[index + 1].isWord {
                index = visitClass(named: tokens[index + 1].text, from: index)
            } else {
                index = after(index)
            }
        }
    }

    /// - Returns: The index of the token after the class.
    private mutating func visitClass(named name: String, from start: Int) -> Int {
        guard let opening = tokens[start...].firstIndex(where: { $0.text == "{" }) else { return tokens.count }
        let end = after(opening)
        visitMembers(opening + 1..<end - 1, of: name)
        if let members = text(.member, of: name) {
            edits.append(
                (
                    tokens[end - 2].range.upperBound..<tokens[end - 1].range.lowerBound,
                    "\n\n" + indented(members, by: "    ", firstToo: true) + "\n"
                ))
        }
        if let extensions = text(.extension, of: name) {
            edits.append((tokens[end - 1].range.upperBound..<tokens[end - 1].range.upperBound, "\n\n" + extensions))
        }
        return end
    }

    // MARK: The members of a class

    private mutating func visitMembers(_ range: Range<Int>, of type: String) {
        var index = range.lowerBound
        // The first token after the attributes of a declaration.
        var declaration: Int?
        while index < range.upperBound {
            switch tokens[index].text {
            case "@":
                index = visitAttribute(at: index)
                declaration = index
            case "#" where index + 1 < range.upperBound && Self.declarations.contains(tokens[index + 1].text):
                index = removeDeclaration(at: index, in: range)
            case "var", "let":
                visitVariable(at: index, declaration: declaration, in: range, of: type)
                declaration = nil
                index += 1
            case let text:
                if text == "{" || tokens[index].isComment { declaration = nil }
                index = after(index)
            }
        }
    }

    /// Removes an attribute that is a macro, with the white space after it.
    ///
    /// - Returns: The index of the token after the attribute.
    private mutating func visitAttribute(at start: Int) -> Int {
        var index = start + 1
        while index + 2 < tokens.count, tokens[index + 1].text == "." { index += 2 }
        let name = tokens[index].text
        var end = index + 1
        if end < tokens.count, tokens[end].text == "(", tokens[end].range.lowerBound == tokens[index].range.upperBound { end = after(end) }
        if Self.attributes.contains(name) || name.hasPrefix("_Persisted") { remove(start..<end) }
        return end
    }

    /// Removes `#Index<Person>(\.name)`.
    private mutating func removeDeclaration(at start: Int, in range: Range<Int>) -> Int {
        guard let opening = tokens[start..<range.upperBound].firstIndex(where: { $0.text == "(" }) else { return start + 1 }
        let end = after(opening)
        if end < range.upperBound {
            remove(start..<end)
        } else {
            edits.append((tokens[start - 1].range.upperBound..<tokens[end - 1].range.upperBound, ""))
        }
        return end
    }

    private mutating func visitVariable(at index: Int, declaration: Int?, in range: Range<Int>, of type: String) {
        guard index + 1 < range.upperBound else { return }
        let property = "\(type).\(tokens[index + 1].text)"
        let indentation = indentation(of: index)
        switch properties {
        case .withAttribute:
            guard let attribute = text(.memberAttribute, of: property) else { break }
            if let declaration {
                let position = tokens[declaration].range.lowerBound
                edits.append((position..<position, attribute + " "))
            } else {
                let position = indentation.end
                edits.append((position..<position, "\(attribute)\n\(indentation.text)"))
            }
            return
        case .withAccessors: break
        }
        guard let accessors = text(.accessor, of: property) else { return }
        // The accessors replace the initializer.
        let last = lastToken(from: index, in: range) { $0.text == "=" }
        let end = lastToken(from: index, in: range) { _ in false }
        edits.append(
            (tokens[last].range.upperBound..<tokens[end].range.upperBound, " " + indented(accessors, by: indentation.text, firstToo: false))
        )
    }

    /// Returns the index of the last token of a declaration before one that satisfies a condition, or before the next line.
    private func lastToken(from start: Int, in range: Range<Int>, before isEnd: (SourceToken) -> Bool) -> Int {
        var index = start
        while true {
            let next = after(index)
            guard next < range.upperBound, !isEnd(tokens[next]), !tokens[next].isComment,
                tokens[next].line == tokens[next - 1].line + tokens[next - 1].text.utf8.count(where: { $0 == 10 })
            else { return next - 1 }
            index = next
        }
    }

    // MARK: Tokens and lines

    /// Returns the index of the token after a token, or after the bracket that closes the one at this index.
    private func after(_ start: Int) -> Int {
        var depth = 0
        var index = start
        repeat {
            if ["(", "[", "{"].contains(tokens[index].text) { depth += 1 }
            if [")", "]", "}"].contains(tokens[index].text) { depth -= 1 }
            index += 1
        } while depth > 0 && index < tokens.count
        return index
    }

    private mutating func remove(_ range: Range<Int>) {
        let end =
            range.upperBound < tokens.count ? tokens[range.upperBound].range.lowerBound : tokens[range.upperBound - 1].range.upperBound
        edits.append((tokens[range.lowerBound].range.lowerBound..<end, ""))
    }

    /// Returns the white space at the beginning of a token's line, and the position of its end.
    private func indentation(of index: Int) -> (text: String, end: Int) {
        let bytes = Array(source.utf8)
        let start = bytes[..<tokens[index].range.lowerBound].lastIndex(of: 10).map { $0 + 1 } ?? 0
        let spaces = bytes[start...].prefix { $0 == UInt8(ascii: " ") }
        return (String(decoding: spaces, as: UTF8.self), spaces.endIndex)
    }

    private func indented(_ text: String, by indentation: String, firstToo: Bool) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            .map { $0.element.isEmpty || $0.offset == 0 && !firstToo ? String($0.element) : indentation + $0.element }
            .joined(separator: "\n")
    }
}
