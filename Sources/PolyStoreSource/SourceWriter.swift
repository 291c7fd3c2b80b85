import PolyStoreBackend

/// Writes the source of a schema.
struct SourceWriter {
    let schema: ResolvedSchema
    let options: ModelSource.Options
    let plan: ClassPlan
    private(set) var limitations: [ModelSource.Limitation] = []
    private var lines: [String] = []

    private var access: String { options.access.prefix }
    private var indent: String { options.namespace == nil ? "" : "    " }

    init(_ schema: ResolvedSchema, _ options: ModelSource.Options) {
        self.schema = schema
        self.options = options
        plan = ClassPlan(schema, reserved: options.namespace.map { [$0] } ?? [])
    }

    /// Returns the text, and the constant that has the schema.
    mutating func write() -> (text: String, constant: String) {
        lines = ["import Foundation", "import PolyStore"]
        if let namespace = options.namespace { lines += ["", "\(access)enum \(namespace) {"] }
        for entity in schema.entities {
            let first = plan.firstOfEntity[entity.index]
            for position in first..<first + entity.classes.count {
                if lines.last?.hasSuffix("enum \(options.namespace ?? "") {") != true { lines.append("") }
                write(plan.classes[position], of: entity)
            }
        }
        let constant = writeSchema()
        return (lines.joined(separator: "\n") + "\n", constant)
    }

    private mutating func writeSchema() -> String {
        let classes = plan.roots.map { "\(plan.classes[$0].swiftName).self" }
        let value = "Schema(\(([SwiftLiterals.text(schema.description.name)] + classes).joined(separator: ", ")))"
        if let namespace = options.namespace {
            lines += ["", "    \(access)static let schema = \(value)", "}"]
            return "\(namespace).schema"
        }
        let name = SwiftNames.constant(schema.description.name)
        lines += ["", "extension Schema {", "    \(access)static let \(SwiftNames.code(name)) = \(value)", "}"]
        return "Schema.\(name)"
    }

    // MARK: Classes

    private mutating func write(_ planned: PlannedClass, of entity: Entity) {
        var arguments: [String] = []
        if planned.swiftName != planned.name { arguments.append("entity: \(SwiftLiterals.text(planned.name))") }
        if let original = planned.originalName { arguments.append("originalName: \(SwiftLiterals.text(original))") }
        if planned.isAbstract { arguments.append("isAbstract: true") }
        if !planned.children.isEmpty {
            arguments.append("subentities: " + planned.children.map { "\"\(plan.classes[$0].swiftName)\"" }.joined(separator: ", "))
        }
        if entity.description.hierarchy?.subentities.isEmpty == true {
            note(
                entity.name, nil,
                "the hierarchy has no subentities, and a class without subclasses is not a hierarchy. Its stores need a migration.", "")
        }
        lines.append("\(indent)@Model\(arguments.isEmpty ? "" : "(\(arguments.joined(separator: ", ")))")")
        let parent = planned.parent.map { ": \(plan.classes[$0].swiftName)" } ?? ""
        let heading = "\(indent)\(access)\(planned.children.isEmpty ? "final " : "")class \(planned.swiftName)\(parent) {"
        lines.append(heading)
        for property in planned.properties { write(property, of: entity) }
        if !planned.indexes.isEmpty || !planned.searchIndexes.isEmpty, !planned.properties.isEmpty { lines.append("") }
        for index in planned.indexes { write(index, of: entity, in: planned) }
        for index in planned.searchIndexes { write(index, of: entity, in: planned) }
        if lines.last == heading { lines[lines.count - 1] = heading + "}" } else { lines.append("\(indent)}") }
    }

    private mutating func write(_ property: PlannedProperty, of entity: Entity) {
        let declaration: String
        let marker: String
        var arguments: [String] = []
        switch property.description {
        case .attribute(let attribute):
            (marker, declaration) = ("Attribute", self.declaration(of: attribute, property.swiftName, entity))
            if attribute.isUnique { arguments.append(".unique") }
            if attribute.isIndexed { arguments.append(".indexed") }
            arguments += rules(of: attribute, entity)
        case .relationship(let relationship):
            (marker, declaration) = ("Relationship", self.declaration(of: relationship, property.swiftName, entity))
            arguments = self.arguments(of: relationship, entity)
        }
        if property.swiftName != property.name { arguments.append("name: \(SwiftLiterals.text(property.name))") }
        if let original = property.originalName { arguments.append("originalName: \(SwiftLiterals.text(original))") }
        var prefix = ""
        if !arguments.isEmpty { prefix = "@\(marker)(\(arguments.joined(separator: ", "))) " }
        if arguments.isEmpty, marker == "Relationship" { prefix = "@Relationship " }
        lines.append("\(indent)    \(prefix)\(access)var \(declaration)")
    }

    // MARK: Attributes

    private mutating func declaration(of attribute: AttributeDescription, _ name: String, _ entity: Entity) -> String {
        var text = "\(SwiftNames.code(name)): \(SwiftLiterals.swiftType(attribute.type))\(attribute.isOptional ? "?" : "")"
        if attribute.type == .json {
            note(
                entity.name, attribute.name,
                "the schema does not contain the Swift type of the Codable value, so the property has its JSON.")
        }
        switch attribute.defaultExpression {
        case .uuid?: text += " = UUID()"
        case .date?: text += " = Date()"
        case .computed?:
            note(
                entity.name, attribute.name,
                "the default is an expression that only the original class contains. Write it, or assign a value to each new object.")
        case nil:
            guard let value = attribute.defaultValue, !value.isNull else { break }
            if let literal = SwiftLiterals.value(value, attribute.type, isOptional: attribute.isOptional) {
                text += " = \(literal)"
            } else {
                note(entity.name, attribute.name, "the default in the schema is not a value of the type, and is left out.")
            }
        }
        return text
    }

    private mutating func rules(of attribute: AttributeDescription, _ entity: Entity) -> [String] {
        attribute.rules.compactMap { rule in
            if let text = rule.source { return text }
            note(entity.name, attribute.name, "the rule \(rule) cannot be written as an option, and is left out.")
            return nil
        }
    }

    // MARK: Relationships

    private mutating func declaration(of relationship: RelationshipDescription, _ name: String, _ entity: Entity) -> String {
        let target = destination(of: relationship, entity)
        let type = !relationship.isToMany ? "\(target)?" : relationship.isOrdered ? "[\(target)]" : "Set<\(target)>"
        return "\(SwiftNames.code(name)): \(type)"
    }

    /// Returns the class of the objects at the other end: the one that declares the inverse.
    private mutating func destination(of relationship: RelationshipDescription, _ entity: Entity) -> String {
        guard let resolved = entity.relationship(named: relationship.name) else { return relationship.destination }
        let destination = schema.entities[resolved.destination]
        if let inverse = resolved.inverse {
            let name = destination.relationships[inverse].name
            if let owner = plan.owner(of: name, entity: destination.index) { return plan.classes[owner].swiftName }
        } else if destination.classifierField != nil {
            note(
                entity.name, relationship.name,
                "the schema does not contain which class of the hierarchy \(destination.name) the relationship leads to. Name a subclass if it was one."
            )
        }
        return plan.classes[plan.firstOfEntity[destination.index]].swiftName
    }

    private func arguments(of relationship: RelationshipDescription, _ entity: Entity) -> [String] {
        var arguments: [String] = []
        if relationship.deleteRule != .nullify { arguments.append("deleteRule: .\(relationship.deleteRule.rawValue)") }
        if let inverse = relationship.inverse, let resolved = entity.relationship(named: relationship.name),
            let name = plan.swiftName(of: inverse, entity: resolved.destination)
        {
            arguments.append("inverse: \"\(name)\"")
        }
        if relationship.isRequired { arguments.append("required: true") }
        if relationship.minCount != 0 { arguments.append("min: \(relationship.minCount)") }
        if let most = relationship.maxCount { arguments.append("max: \(most)") }
        return arguments
    }

    // MARK: Indexes

    private mutating func write(_ index: IndexDescription, of entity: Entity, in planned: PlannedClass) {
        let paths = index.parts.map(\.path).joined(separator: ", ")
        guard !index.readsJSON else {
            return note(
                entity.name, nil,
                "the index of \(paths) leads into a Codable value, and needs its Swift type: write #Index with key paths. Without it the index is removed when a store is opened for writing."
            )
        }
        let names = index.fields.compactMap { plan.swiftName(of: $0, entity: entity.index) }
        let keyPaths = names.map { "\\.\(SwiftNames.code($0))" }.joined(separator: ", ")
        lines.append("\(indent)    #\(index.isUnique ? "Unique" : "Index")<\(planned.swiftName)>(\(keyPaths))")
    }

    private mutating func write(_ index: SearchIndexDescription, of entity: Entity, in planned: PlannedClass) {
        var arguments = index.fields.compactMap { plan.swiftName(of: $0, entity: entity.index) }.map { "\\.\(SwiftNames.code($0))" }
        if !index.name.isEmpty { arguments.append("name: \(SwiftLiterals.text(index.name))") }
        if index.weights.contains(where: { $0 != 1 }) {
            arguments.append("weights: [\(index.weights.map { "\($0)" }.joined(separator: ", "))]")
        }
        if index.options.stemming != .none { arguments.append("stemming: .\(index.options.stemming.rawValue)") }
        lines.append("\(indent)    #Search<\(planned.swiftName)>(\(arguments.joined(separator: ", ")))")
    }

    /// Records what the classes do not express, and writes it as a comment before the declaration.
    private mutating func note(_ entity: String, _ property: String?, _ reason: String, _ deeper: String = "    ") {
        limitations.append(ModelSource.Limitation(entity: entity, property: property, reason: reason))
        lines.append(SwiftLiterals.oneLine("\(indent)\(deeper)// \(reason.prefix(1).uppercased())\(reason.dropFirst())"))
    }
}

extension AttributeRule {
    /// The rule as an option of `@Attribute`; nil for a range that the options cannot express.
    fileprivate var source: String? {
        switch kind {
        case .range(nil, nil, _): return nil
        case .range(let lower?, nil, _): return SwiftLiterals.bound(lower).map { ".range(\($0)...)" }
        case .range(let lower, let upper?, let includesUpper):
            guard let high = SwiftLiterals.bound(upper), lower == nil || lower?.type == upper.type else { return nil }
            guard let lower else { return ".range(\(includesUpper ? "..." : "..<")\(high))" }
            return SwiftLiterals.bound(lower).map { ".range(\($0)\(includesUpper ? "..." : "..<")\(high))" }
        case .length(let least, let most?): return ".length(\(least)...\(most))"
        case .length(let least, nil): return ".length(\(least)...)"
        case .matches(let pattern): return ".matches(\(SwiftLiterals.text(pattern)))"
        }
    }
}
