import SwiftSyntax

/// The code that `@Model` writes into the class.
extension ModelClass {
    private func coding(_ property: ModelProperty) -> String { "PolyStoreCore.ModelCoding.of((\(property.type)).self)" }

    /// Inline storage, and the inits.
    var storageMembers: [DeclSyntax] {
        var members: [DeclSyntax] = ["@exclusivity(unchecked) \(raw: access)var _$state: PolyStoreCore.ModelState"]
        for property in fields {
            let type = property.relationship == nil ? property.type : "PolyStoreCore.ToOne"
            members.append("private var \(raw: property.storage): \(raw: type)")
        }
        let defaults = fields.map { property in
            let value: String
            if property.relationship != nil {
                value = ".none"
            } else if let written = property.defaultValue {
                value = written.description
            } else {
                value = property.isOptional ? "nil" : "\(coding(property)).initial"
            }
            return "    self.\(property.storage) = \(value)\n"
        }
        members.append(
            """
            \(raw: access)required init(_$state state: consuming PolyStoreCore.ModelState) {
            \(raw: defaults.joined())    self._$state = state
            }
            """)
        members.append(
            """
            \(raw: access)required init(_$state state: consuming PolyStoreCore.ModelState, decoding record: PolyStoreBackend.RecordView) throws {
            \(raw: decodingLines)    self._$state = state
            }
            """)
        return members
    }

    private var decodingLines: String {
        fields.map { property in
            let field = property.field ?? 0
            let value =
                property.relationship == nil ? "try \(coding(property)).decode(record, \(field))" : "PolyStoreCore.ToOne(record, \(field))"
            return "    self.\(property.storage) = \(value)\n"
        }.joined()
    }

    /// From and to records.
    var codingMembers: [DeclSyntax] {
        let encoding = fields.map { property in
            let field = property.field ?? 0
            return property.relationship == nil
                ? "    try \(coding(property)).encode(self.\(property.storage), into: &builder, \(field))\n"
                : "    self.\(property.storage).encode(into: &builder, \(field))\n"
        }
        let toOnes = fields.filter { $0.relationship != nil }
        let reads = toOnes.map { "    case \($0.relationship?.ordinal ?? 0): self.\($0.storage)\n" }.joined()
        let writes = toOnes.map { "    case \($0.relationship?.ordinal ?? 0): self.\($0.storage) = target\n" }.joined()
        return [
            """
            \(raw: access)func _$load(_ record: PolyStoreBackend.RecordView) throws {
            \(raw: decodingLines)}
            """,
            """
            \(raw: access)func _$encode(into builder: inout PolyStoreBackend.RecordBuilder) throws {
            \(raw: encoding.joined())}
            """,
            """
            \(raw: access)func _$toOne(_ relationship: Int) -> PolyStoreCore.ToOne {
                switch relationship {
            \(raw: reads)    default: .none
                }
            }
            """,
            """
            \(raw: access)func _$setToOne(_ relationship: Int, _ target: PolyStoreCore.ToOne) {
                switch relationship {
            \(raw: writes)    default: break
                }
            }
            """,
        ]
    }

    /// What the schema is made of.
    var descriptionMembers: [DeclSyntax] {
        let described = properties.map { "        \(description($0)),\n" }.joined()
        let indexLines = indexes.map { index in
            "        PolyStoreBackend.IndexDescription(fields: [\(index.fields.map { quoted($0) }.joined(separator: ", "))], isUnique: \(index.isUnique)),\n"
        }
        let paths = properties.map { "        (\\\(name).\($0.identifier), \(quoted($0.storedName))),\n" }.joined()
        var members: [DeclSyntax] = [
            "\(raw: access)static var _$entityName: String { \(raw: quoted(entityName)) }",
            """
            \(raw: access)static let _$entity = PolyStoreBackend.EntityDescription(
                name: \(raw: quoted(entityName)), originalName: \(raw: quoted(originalName)),
                properties: [
            \(raw: described)    ],
                indexes: [
            \(raw: indexLines.joined())    ])
            """,
            """
            \(raw: access)static let _$properties = PolyStoreCore.ModelProperties<\(raw: name)>([
            \(raw: paths)    ])
            """,
        ]
        let renamed = properties.filter { $0.storedName != $0.name }
        if !renamed.isEmpty {
            let cases = renamed.map { "    case \(quoted($0.name)): \(quoted($0.storedName))\n" }.joined()
            members.append(
                """
                \(raw: access)static func _$storedName(_ property: String) -> String {
                    switch property {
                \(raw: cases)    default: property
                    }
                }
                """)
        }
        let inverses = relationships.compactMap { property in
            property.relationship.flatMap { told in told.inverse.map { "    _ = \\\(told.destination).\($0)\n" } }
        }
        if !inverses.isEmpty {
            members.append(
                """
                private static func _$checkInverses() {
                \(raw: inverses.joined())}
                """)
        }
        return members
    }

    private func description(_ property: ModelProperty) -> String {
        guard let told = property.relationship else {
            let value = property.defaultValue?.description ?? "nil"
            return
                ".attribute(\(coding(property)).describe(\(quoted(property.storedName)), options: [\(property.options.joined(separator: ", "))], "
                + "originalName: \(quoted(property.originalName)), default: \(value)))"
        }
        return ".relationship(PolyStoreBackend.RelationshipDescription(name: \(quoted(property.storedName)), "
            + "originalName: \(quoted(property.originalName)), destination: \(told.destination)._$entityName, isToMany: \(told.isToMany), "
            + "isOrdered: \(told.isOrdered), inverse: \(inverseName(told)), deleteRule: \(told.deleteRule), isRequired: \(told.isRequired), "
            + "minCount: \(told.minCount), maxCount: \(told.maxCount)))"
    }

    /// The inverse by its stored name, which only its own class knows.
    private func inverseName(_ told: ModelProperty.Relationship) -> String {
        guard let inverse = told.inverse else { return "nil" }
        return told.destination == name
            ? quoted(properties.first { $0.name == inverse }?.storedName ?? inverse)
            : "\(told.destination)._$storedName(\(quoted(inverse)))"
    }
}
