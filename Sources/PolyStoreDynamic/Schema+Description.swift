public import Foundation
import PolyStoreBackend
import PolyStoreKernel

extension Schema {
    /// Creates a schema of entities without classes, such as one that a program builds or reads from a file.
    ///
    ///     let stack = try DataStack(Schema(description))
    ///     try await stack.upgradeStoreIfNeeded(.sqlite(file: "company.sqlite"), migrating: .lightweight)
    ///
    /// A stack of it creates, opens and migrates stores, and has objects without classes; see ``DynamicObject``. It can be a version of a `SchemaHistory`, with mappings by name.
    /// - Parameters:
    ///   - description: The entities.
    ///   - renames: The earlier names of entities, subentities and properties by their new ones: `["Employee": "Person", "Employee.mail": "email"]`. They replace those in the
    ///     description.
    ///   - configuration: The name of a configuration that has the entities too; `nil` for none.
    /// - Throws: `invalidSchema`.
    public init(_ description: SchemaDescription, renaming renames: [String: String] = [:], configuration: String? = nil) throws {
        let description = try description.renaming(renames)
        let types = try KnownEntities.types(of: description)
        self.init(description.name, types, configurations: configuration.map { [$0: types] } ?? [:])
    }

    /// Creates a schema of entities without classes from JSON: the result of `SchemaDescription.encoded()`, the form in which stores keep their schemas.
    /// - Throws: `invalidSchema` with the part of the text that is not valid.
    public init(json: Data, renaming renames: [String: String] = [:], configuration: String? = nil) throws {
        try self.init(SchemaDescription(json: json), renaming: renames, configuration: configuration)
    }
}

extension SchemaDescription {
    /// Decodes a schema that was written by hand or by another program.
    /// - Throws: `invalidSchema` with the part of the text that is not valid.
    init(json: Data) throws {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        do { self = try decoder.decode(SchemaDescription.self, from: json) } catch let error as DecodingError {
            throw StoreError(.invalidSchema, "The JSON is not a schema: \(error.reason).")
        }
    }

    /// Returns the schema with other original names.
    /// - Parameter renames: The earlier names by the new ones, those of properties as `Entity.property`.
    /// - Throws: `invalidSchema` for a name that the schema does not have.
    func renaming(_ renames: [String: String]) throws -> SchemaDescription {
        var (copy, left) = (self, renames)
        for index in copy.entities.indices {
            let entity = copy.entities[index]
            if let original = left.removeValue(forKey: entity.name) { copy.entities[index].originalName = original }
            for (number, part) in (entity.hierarchy?.subentities ?? []).enumerated() {
                if let original = left.removeValue(forKey: part.name) {
                    copy.entities[index].hierarchy?.subentities[number].originalName = original
                }
            }
            for number in entity.properties.indices {
                let names = [entity.name] + (entity.hierarchy?.subentities.map(\.name) ?? [])
                for name in names {
                    let path = "\(name).\(entity.properties[number].name)"
                    if let original = left.removeValue(forKey: path) { copy.entities[index].properties[number].rename(from: original) }
                }
            }
        }
        guard let unknown = left.keys.min() else { return copy }
        throw StoreError(
            .invalidSchema,
            "\"\(unknown)\" cannot be renamed from \"\(left[unknown] ?? "")\": the schema \"\(name)\" has no such entity or property. Name a property as Entity.property."
        )
    }
}

extension PropertyDescription {
    fileprivate mutating func rename(from original: String) {
        switch self {
        case .attribute(var attribute):
            attribute.originalName = original
            self = .attribute(attribute)
        case .relationship(var relationship):
            relationship.originalName = original
            self = .relationship(relationship)
        }
    }
}

extension DecodingError {
    /// The reason with the place in the JSON, without a period.
    fileprivate var reason: String {
        func place(_ path: [any CodingKey]) -> String {
            let text = path.reduce("") { text, key in
                key.intValue.map { "\(text)[\($0)]" } ?? (text.isEmpty ? key.stringValue : "\(text).\(key.stringValue)")
            }
            return text.isEmpty ? "the text" : text
        }
        return switch self {
        case .keyNotFound(let key, let context): "\(place(context.codingPath)) has no \"\(key.stringValue)\""
        case .valueNotFound(_, let context): "\(place(context.codingPath)) is null"
        case .typeMismatch(_, let context), .dataCorrupted(let context):
            "\(place(context.codingPath)) is not valid (\(context.debugDescription.trimmingCharacters(in: ["."])))"
        @unknown default: "\(self)"
        }
    }
}
