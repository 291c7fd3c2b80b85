/// An index over one or more fields, in order.
public struct IndexDescription: Sendable, Hashable {
    /// A component of an index.
    public struct Part: Sendable, Hashable {
        /// The name of an attribute or to-one relationship.
        public var field: String
        /// The field of the JSON attribute; `nil` for the value of the attribute or relationship itself.
        public var json: JSONField?
        /// The reason why the declaration is invalid, for the error of the schema. It is not part of the description.
        package var problem: String?

        /// Creates the value of an attribute or to-one relationship.
        public init(_ field: String) { self.field = field }

        /// Returns a field of a `Codable` value, which is stored in an attribute of the type `json`.
        ///
        ///     IndexDescription(parts: [.json("address", ["city"], as: .string), "lastName"])
        ///
        /// - Parameters:
        ///   - attribute: The name of the attribute.
        ///   - keys: The keys of nested objects, from the outside in.
        ///   - type: The type as which the value is read, as in the conditions that the index serves; see ``JSONField/accepts(_:)``.
        public static func json(_ attribute: String, _ keys: [String], as type: AttributeType) -> Part {
            var part = Part(attribute)
            part.json = JSONField(keys, .value(JSONField.type(for: type)))
            return part
        }

        public static func == (left: Part, right: Part) -> Bool { left.field == right.field && left.json == right.json }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(field)
            hasher.combine(json)
        }
    }

    /// The components, in order.
    public var parts: [Part]
    /// A Boolean value that indicates whether the index enforces uniqueness.
    public var isUnique: Bool

    /// The names of attributes or to-one relationships. A field of a JSON attribute is represented by the attribute.
    public var fields: [String] {
        get { parts.map(\.field) }
        set { parts = newValue.map { Part($0) } }
    }

    /// Creates the declaration of an index.
    public init(fields: [String], isUnique: Bool = false) { self.init(parts: fields.map { Part($0) }, isUnique: isUnique) }

    /// Creates the declaration of an index that can contain fields of `Codable` values.
    public init(parts: [Part], isUnique: Bool = false) {
        self.parts = parts
        self.isUnique = isUnique
    }

    /// A Boolean value that indicates whether a component is a field of a JSON attribute.
    package var readsJSON: Bool { parts.contains { $0.json != nil } }
}

extension IndexDescription.Part: ExpressibleByStringLiteral {
    /// Creates the value of an attribute or to-one relationship.
    public init(stringLiteral field: String) { self.init(field) }
}

extension IndexDescription.Part {
    /// The component in readable form: `age`, `address.city`.
    package var path: String { ([field] + (json?.keys ?? [])).joined(separator: ".") }
}

extension IndexDescription: Codable {
    private enum CodingKeys: String, CodingKey {
        case fields, isUnique, json
    }

    /// A field of a JSON attribute.
    private struct StoredField: Codable {
        let keys: [String]
        let type: AttributeType
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(fields: try values.decode([String].self, forKey: .fields), isUnique: try values.decode(Bool.self, forKey: .isUnique))
        guard let json = try values.decodeIfPresent([StoredField?].self, forKey: .json) else { return }
        guard json.count == parts.count else {
            throw DecodingError.dataCorruptedError(forKey: .json, in: values, debugDescription: "The index has \(parts.count) components.")
        }
        for (position, field) in json.enumerated() { parts[position].json = field.map { JSONField($0.keys, .value($0.type)) } }
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(fields, forKey: .fields)
        try values.encode(isUnique, forKey: .isUnique)
        // Absent for other indexes, whose stored form is that of earlier releases.
        if readsJSON { try values.encode(parts.map { $0.json.map { StoredField(keys: $0.keys, type: $0.type) } }, forKey: .json) }
    }
}
