import PolyStoreBackend

/// The names of a path of format strings, in which names can be quoted: `publisher.#"first name"`.
package struct PathNames {
    package let names: [String]

    /// - Returns: nil for anything else, such as a calculation.
    package init?(_ path: String) {
        var (names, rest) = ([String](), path[...])
        while true {
            if let match = rest.prefixMatch(of: /#"((?:[^"\\]|\\.)*)"/.dotMatchesNewlines()) {
                names.append(String(match.1).replacing(/\\(.)/.dotMatchesNewlines()) { String($0.1) })
                rest = rest[match.range.upperBound...]
            } else if let match = rest.prefixMatch(of: /[\p{L}_][\p{L}\p{M}\p{N}_]*/) {
                names.append(String(match.0))
                rest = rest[match.range.upperBound...]
            } else {
                return nil
            }
            if rest.isEmpty { break }
            guard rest.first == "." else { return nil }
            rest = rest.dropFirst()
        }
        self.names = names
    }

    /// The path as an order names it: names without quotes, which the library finds in the schema and whose index it can use. A path stays quoted if that would be another one.
    var order: String {
        let isPlain = !names.contains { $0.contains(".") || $0.contains("\0") } && names != [ColumnPlan.objectID]
        return isPlain ? names.joined(separator: ".") : names.map(\.asPath).joined(separator: ".")
    }
}

extension SchemaDescription {
    /// Returns the type of an attribute, or of a function whose result is one of its values; nil for anything else.
    package func type(of term: String, in entity: EntityDescription) -> AttributeType? {
        let inner = term.wholeMatch(of: /(?:min|max|minimum|maximum|mode)\((.*)\)/.ignoresCase()).map { String($0.1) }
        guard case .attribute(let attribute)? = property(at: inner ?? term, of: entity) else { return nil }
        return attribute.type
    }

    /// Returns the property of an entity at the end of a path of names over to-one relationships; nil for anything else, such as a calculation.
    package func property(at path: String, of entity: EntityDescription) -> PropertyDescription? {
        var (current, found) = (entity, PropertyDescription?.none)
        for (index, name) in (PathNames(path)?.names ?? []).enumerated() {
            if index > 0 {
                guard case .relationship(let relationship)? = found, !relationship.isToMany,
                    let next = entities.first(where: { $0.name == relationship.destination })
                else { return nil }
                current = next
            }
            found = current.properties.first { $0.name == name }
            if found == nil { return nil }
        }
        return found
    }
}

extension String {
    /// The text without white space at both ends.
    var trimmingWhitespace: String {
        var text = self[...]
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text)
    }
}
