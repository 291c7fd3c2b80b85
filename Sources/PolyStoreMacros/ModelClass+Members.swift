import SwiftSyntax
import SwiftSyntaxMacros

/// The members that `@Model` generates in the class.
extension ModelClass {
    private func coding(_ property: ModelProperty) -> String { "PolyStoreCore.ModelCoding.of((\(property.type)).self)" }

    private var overriding: String { isSubclass ? "override " : "" }

    /// Returns a field index as code.
    private func fieldIndex(_ property: ModelProperty) -> String {
        ownerArgument.isEmpty ? "\(property.field ?? 0)" : "base + \(property.field ?? 0)"
    }

    /// A declaration of `base` for code that uses indexes.
    private var base: String { ownerArgument.isEmpty || fields.isEmpty ? "" : "    let base = \(name)._$firstIndexes.field\n" }

    /// The stored properties and the initializers.
    func storageMembers(in context: some MacroExpansionContext) -> [DeclSyntax] {
        // A subclassable class would access an overridable property through its vtable.
        // In a class that declares itself Sendable, which is an error, the compiler would report each stored property.
        let isolation = isDeclaredSendable ? "nonisolated(unsafe) " : ""
        let state =
            "@exclusivity(unchecked) \(isolation)\(access)\(subentities.isEmpty ? "" : "final ")var _$state: PolyStoreCore.ModelState"
        var members: [DeclSyntax] = isSubclass ? [] : ["\(raw: state)"]
        for property in fields {
            let type = property.relationship == nil ? property.type : "PolyStoreCore.ToOne"
            members.append("\(raw: isolation)private var \(raw: property.storage): \(raw: type)")
        }
        let defaults = fields.map { property in
            let value: String
            if property.relationship != nil {
                value = ".none"
            } else if let written = property.defaultValue {
                value = written.description
            } else {
                value = property.isOptional ? "nil" : "PolyStoreCore.ModelCoding._initial((\(property.type)).self)"
            }
            return "    self.\(property.storage) = \(value)\n"
        }
        let creation: DeclSyntax = """
            \(raw: access)required init(_$state state: consuming PolyStoreCore.ModelState) {
            \(raw: defaults.joined())    \(raw: isSubclass ? "super.init(_$state: state)" : "self._$state = state")
            }
            """
        let decoding: DeclSyntax = """
            \(raw: access)required init(_$state state: consuming PolyStoreCore.ModelState, decoding record: PolyStoreCore._RecordView) throws {
            \(raw: base)\(raw: decodingLines)    \(raw: isSubclass ? "try super.init(_$state: state, decoding: record)" : "self._$state = state")
            }
            """
        // A superclass that is not a model may have no initializer without arguments, which the compiler reports at the initializers.
        return members + (inherited != nil && !isSubclass ? located([creation, decoding], in: context) : [creation, decoding])
    }

    private var decodingLines: String {
        fields.map { property in
            let field = fieldIndex(property)
            let value =
                property.relationship == nil ? "try \(coding(property)).decode(record, \(field))" : "PolyStoreCore.ToOne(record, \(field))"
            return "    self.\(property.storage) = \(value)\n"
        }.joined()
    }

    /// The conversions from and to records.
    var codingMembers: [DeclSyntax] {
        let encoding = fields.map { property in
            let field = fieldIndex(property)
            return property.relationship == nil
                ? "    try \(coding(property)).encode(self.\(property.storage), into: &builder, \(field))\n"
                : "    self.\(property.storage).encode(into: &builder, \(field))\n"
        }
        let toOnes = fields.filter { $0.relationship != nil }
        let reads = toOnes.map { "    case \($0.relationship?.index ?? 0): self.\($0.storage)\n" }.joined()
        let writes = toOnes.map { "    case \($0.relationship?.index ?? 0): self.\($0.storage) = target\n" }.joined()
        let relationship = ownerArgument.isEmpty ? "relationship" : "relationship - \(name)._$firstIndexes.relationship"
        let load: DeclSyntax = """
            \(raw: overriding)\(raw: access)func _$load(_ record: PolyStoreCore._RecordView) throws {
            \(raw: isSubclass ? "    try super._$load(record)\n" : "")\(raw: base)\(raw: decodingLines)}
            """
        let encode: DeclSyntax = """
            \(raw: overriding)\(raw: access)func _$encode(into builder: inout PolyStoreCore._RecordBuilder) throws {
            \(raw: isSubclass ? "    try super._$encode(into: &builder)\n" : "")\(raw: base)\(raw: encoding.joined())}
            """
        // A subclass inherits members to which it adds nothing.
        if isSubclass, toOnes.isEmpty { return fields.isEmpty ? [] : [load, encode] }
        return (isSubclass && fields.isEmpty ? [] : [load, encode]) + [
            """
            \(raw: overriding)\(raw: access)func _$toOne(_ relationship: Int) -> PolyStoreCore.ToOne {
                switch \(raw: relationship) {
            \(raw: reads)    default: \(raw: isSubclass ? "super._$toOne(relationship)" : ".none")
                }
            }
            """,
            """
            \(raw: overriding)\(raw: access)func _$setToOne(_ relationship: Int, _ target: PolyStoreCore.ToOne) {
                switch \(raw: relationship) {
            \(raw: writes)    default: \(raw: isSubclass ? "super._$setToOne(relationship, target)" : "break")
                }
            }
            """,
        ]
    }

    /// The members that describe the schema.
    func descriptionMembers(in context: some MacroExpansionContext) -> [DeclSyntax] {
        let described = properties.map { "        \(description($0)),\n" }.joined()
        let indexLines = indexes.map { index in
            let isPlain = index.fields.allSatisfy(\.keys.isEmpty)
            let parts = index.fields.map { isPlain ? storedName($0.property) : indexPart($0) }.joined(separator: ", ")
            return "        PolyStore.IndexDescription(\(isPlain ? "fields" : "parts"): [\(parts)], isUnique: \(index.isUnique)),\n"
        }
        let entity = """
            PolyStore.EntityDescription(
                name: \(quoted(entityName)), originalName: \(quoted(originalName)),
                properties: [
            \(described)    ],
                indexes: [
            \(indexLines.joined())    ]\(searchArgument))
            """
        var members: [DeclSyntax] = [
            "\(raw: overriding)\(raw: access)\(raw: overridable) var _$entityName: String { \(raw: quoted(entityName)) }"
        ]
        if isInHierarchy {
            // Computed, because a stored property cannot be overridden.
            members += [
                "private static let _$ownEntity = \(raw: entity)",
                "\(raw: overriding)\(raw: access)\(raw: overridable) var _$entity: PolyStore.EntityDescription { _$ownEntity }",
                "private static let _$ownProperties = PolyStoreCore.ModelProperties(\(raw: name).self, \(raw: pathsName)(\(raw: name).self)\(raw: unstoredPaths))",
                "\(raw: overriding)\(raw: access)\(raw: overridable) var _$properties: PolyStoreCore.ModelProperties { _$ownProperties }",
            ]
            members.append(pathsMember(in: context))
        } else {
            let paths = properties.map { "        (\($0.keyPath(name)), \(quoted($0.storedName))),\n" }.joined()
            let stored: [DeclSyntax] = [
                "\(raw: access)static let _$entity = \(raw: entity)",
                """
                \(raw: access)static let _$properties = PolyStoreCore.ModelProperties(\(raw: name).self, [
                \(raw: paths)    ]\(raw: unstoredPaths))
                """,
            ]
            // The extended type can be generic, which the compiler reports at stored type properties.
            members += isInExtension ? located(stored, in: context) : stored
        }
        let renamed = properties.filter { $0.storedName != $0.name }
        if !renamed.isEmpty || isInHierarchy && !isSubclass {
            let cases = renamed.map { "    case \(quoted($0.name)): \(quoted($0.storedName))\n" }.joined()
            members.append(
                """
                \(raw: overriding)\(raw: access)\(raw: overridable) func _$storedName(_ property: String) -> String {
                    switch property {
                \(raw: cases)    default: \(raw: isSubclass ? "super._$storedName(property)" : "property")
                    }
                }
                """)
        }
        return members
    }

    /// The key paths of computed and transient properties as an argument, which is evaluated only for messages.
    private var unstoredPaths: String {
        guard !unstoredProperties.isEmpty else { return "" }
        let paths = unstoredProperties.map { "(\(ModelProperty.keyPath($0, name)), \(quoted($0.trimmingBackticks)))" }
        return ", unstored: { [\(paths.joined(separator: ", "))] }"
    }

    /// Returns a field of an index as code. Only the declaring class knows the stored name of an inherited field.
    func storedName(_ field: String) -> String {
        properties.contains { $0.storedName == field } ? quoted(field) : "\(name)._$storedName(\(quoted(field)))"
    }

    /// Returns a component of an index with a field of a `Codable` value as code.
    private func indexPart(_ part: IndexedPath) -> String {
        if part.keys.isEmpty { return ".init(\(storedName(part.property)))" }
        return "PolyStoreCore.ModelCoding.indexPart(\(storedName(part.property)), \\\(name).\(part.first), "
            + "[\(part.keys.map(quoted).joined(separator: ", "))], \\\(name).\(part.path))"
    }

    private func description(_ property: ModelProperty) -> String {
        guard let relationship = property.relationship else {
            let value = property.defaultValue?.description ?? "nil"
            let description =
                "\(coding(property)).describe(\(quoted(property.storedName)), options: [\(property.options.joined(separator: ", "))], "
                + "originalName: \(quoted(property.originalName)), default: \(value))"
            guard property.hasComputedDefault else { return ".attribute(\(description))" }
            return ".attribute(PolyStoreCore.ModelCoding.computing(\(description), \(quoted(value))))"
        }
        return ".relationship(PolyStore.RelationshipDescription(name: \(quoted(property.storedName)), "
            + "originalName: \(quoted(property.originalName)), destination: \(destinationName(property)), isToMany: \(relationship.isToMany), "
            + "isOrdered: \(relationship.isOrdered), inverse: \(inverseName(property)), deleteRule: \(relationship.deleteRule), "
            + "isRequired: \(relationship.isRequired), minCount: \(relationship.minCount), maxCount: \(relationship.maxCount)))"
    }

    /// Returns the name of the destination's entity as code. The type is that of the property, so that the compiler reports one that does not exist only there.
    private func destinationName(_ property: ModelProperty) -> String {
        Identifier.metatypeMembers.contains(property.name)
            ? "PolyStoreCore.ModelCoding.entityName((\(property.relationship?.destination ?? "")).self)"
            : "PolyStoreCore.ModelCoding.destination(\(property.keyPath(name)))"
    }

    /// Returns the stored name of the inverse as code. Only the inverse's own class knows it.
    private func inverseName(_ property: ModelProperty) -> String {
        guard let relationship = property.relationship, let inverse = relationship.inverse else { return "nil" }
        if relationship.destination == name { return quoted(properties.first { $0.name == inverse }?.storedName ?? inverse) }
        return Identifier.metatypeMembers.contains(property.name)
            ? "\(relationship.destination)._$storedName(\(quoted(inverse)))"
            : "PolyStoreCore.ModelCoding.inverse(\(quoted(inverse)), of: \(property.keyPath(name)))"
    }
}
