import SwiftSyntax

/// A full-text index that a class declares: `#Search(\.title, \.body, weights: [2, 1])`.
struct DeclaredSearch {
    /// The names of the properties, and later their stored names.
    var fields: [String]
    /// The name of the index.
    let name: String
    /// The weights, as code; nil for the default.
    let weights: String?
    /// The stemming, as code; nil for the default.
    let stemming: String?
    /// The macro, at which problems are reported.
    let node: MacroExpansionDeclSyntax
}

extension ModelClass {
    mutating func readSearch(_ macro: MacroExpansionDeclSyntax) {
        var fields: [String] = []
        var named: [String: ExprSyntax] = [:]
        for argument in macro.arguments {
            if let label = argument.label?.text {
                named[label] = argument.expression
                continue
            }
            guard let path = argument.expression.as(KeyPathExprSyntax.self).flatMap({ IndexedPath($0.components) }), path.keys.isEmpty
            else {
                problems.add("search", "#Search takes key paths to text attributes of the class, such as \\.title.", at: argument)
                return
            }
            fields.append(path.property)
        }
        if fields.isEmpty || Set(fields).count != fields.count {
            problems.add("search", "#Search names no attribute, or one twice.", at: macro)
            return
        }
        guard let name = named["name"].map(\.plainString) ?? "" else {
            problems.add("search", "The name of #Search must be a string literal without interpolation.", at: macro)
            return
        }
        if let weights = named["weights"]?.as(ArrayExprSyntax.self), weights.elements.count != fields.count {
            problems.add(
                "search", "#Search needs one weight for each attribute: \(fields.count), not \(weights.elements.count).", at: weights)
            return
        }
        if searches.contains(where: { $0.name == name }) {
            problems.add(
                "search",
                name.isEmpty
                    ? "\(self.name) has two #Search without a name. Give one of them a name: #Search(\\.title, name: \"titles\")."
                    : "\(self.name) has two #Search with the name \(name). Give one of them another name.", at: macro)
            return
        }
        searches.append(
            DeclaredSearch(
                fields: fields, name: name, weights: named["weights"]?.trimmedDescription, stemming: named["stemming"]?.trimmedDescription,
                node: macro))
    }

    /// Checks the attributes of full-text indexes, and replaces their names by the stored names.
    /// - Parameter inherits: Whether the class may inherit attributes, which are found when the schema is created.
    mutating func checkSearches(inherits: Bool) {
        for index in searches.indices {
            for position in searches[index].fields.indices {
                let field = searches[index].fields[position]
                guard let property = properties.first(where: { $0.name == field }) else {
                    if inherits { continue }
                    problems.add(
                        "search", "#Search names \(field), which is not a stored attribute of \(name).", at: searches[index].node)
                    continue
                }
                if property.relationship != nil {
                    problems.add(
                        "search",
                        "#Search names \(field), which is a relationship. Declare the index in the class at its other end, and search over the relationship in a condition.",
                        at: searches[index].node)
                } else if property.isKnownNotToBeText {
                    problems.add("search", "#Search needs text attributes, and \(field) is \(property.type).", at: searches[index].node)
                }
                searches[index].fields[position] = property.storedName
            }
        }
    }

    /// The argument of the description of the entity; empty without full-text indexes.
    var searchArgument: String {
        guard !searches.isEmpty else { return "" }
        let lines = searches.map { search in
            var arguments = search.name.isEmpty ? [] : ["name: \(quoted(search.name))"]
            arguments.append("fields: [\(search.fields.map(storedName).joined(separator: ", "))]")
            if let weights = search.weights { arguments.append("weights: \(weights)") }
            if let stemming = search.stemming { arguments.append("options: PolyStore.SearchOptions(stemming: \(stemming))") }
            return "        PolyStore.SearchIndexDescription(\(arguments.joined(separator: ", "))),\n"
        }
        return ",\n    searchIndexes: [\n\(lines.joined())    ]"
    }
}

extension ModelProperty {
    /// Types that are stored as anything but text. Others, such as enumerations with raw values, are known when the schema is created.
    private static let others: Set<String> = [
        "Bool", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "Double", "Float", "Date", "Data",
        "UUID", "URL", "Decimal",
    ]

    /// A Boolean value that indicates whether the type is written as one that is not text.
    fileprivate var isKnownNotToBeText: Bool {
        let plain = type.hasSuffix("?") ? String(type.dropLast()) : type
        let name = plain.split(separator: ".").last.map(String.init) ?? plain
        return Self.others.contains(name) || plain.hasPrefix("[") || plain.hasPrefix("Set<")
    }
}
