import PolyStoreBackend

/// The source of `@Model` classes for a schema.
///
///     let source = try ModelSource(schema)
///     try source.text.write(toFile: "Models.swift", atomically: true, encoding: .utf8)
///     for limitation in source.limitations { print(limitation) }
///
/// A stack of the classes opens the stores of the schema: names in the store, types, options, defaults, rules, relationships, indexes and hierarchies are the same. What classes cannot
/// say, or what the schema does not contain, is listed in ``limitations``, and as a comment in the text.
public struct ModelSource: Sendable {
    /// The access level of the classes.
    public enum Access: String, Sendable, CaseIterable {
        /// Visible in the module.
        case `internal`
        /// Visible in the package.
        case package
        /// Visible everywhere.
        case `public`

        var prefix: String { self == .internal ? "" : "\(rawValue) " }
    }

    /// The options of the text.
    public struct Options: Sendable {
        /// The access level of the classes and of the schema.
        public var access: Access
        /// The name of an enum around the classes, so that classes of several versions can have the same names; nil for none. It must be an identifier of Swift.
        public var namespace: String?

        /// Creates options.
        public init(access: Access = .internal, namespace: String? = nil) {
            self.access = access
            self.namespace = namespace
        }
    }

    /// A part of a schema that the classes do not express as the schema does.
    public struct Limitation: Sendable, Hashable, CustomStringConvertible {
        /// The name of the entity in the store.
        public let entity: String
        /// The name of the property in the store; nil for the entity as a whole.
        public let property: String?
        /// The difference, and what to do, as a sentence.
        public let reason: String

        public var description: String { "\(entity)\(property.map { ".\($0)" } ?? ""): \(reason)" }
    }

    /// The source: imports, the classes in the order of the schema, and a constant with the schema.
    public let text: String
    /// The parts of the schema that the classes do not express, in its order; empty if their schema equals the given one.
    public let limitations: [Limitation]
    /// The names of the classes by the names of their entities.
    public let classNames: [String: String]
    /// The constant in the source that has the schema: `Schema.company1`, or `Company1.schema` with a namespace.
    public let schemaConstant: String

    /// Writes the source of a schema.
    /// - Throws: `invalidSchema` if the schema is invalid, or if the namespace is not an identifier.
    public init(_ schema: SchemaDescription, options: Options = Options()) throws {
        let resolved = try ResolvedSchema(schema)
        if let namespace = options.namespace {
            var none: Set<String> = []
            guard SwiftNames.type(namespace, &none) == namespace else {
                throw StoreError(
                    .invalidSchema,
                    "\"\(namespace)\" cannot be the name of an enum around classes: it is not an identifier, or a type has it.")
            }
        }
        var writer = SourceWriter(resolved, options)
        (text, schemaConstant) = writer.write()
        limitations = writer.limitations
        classNames = Dictionary(writer.plan.classes.map { ($0.name, $0.swiftName) }, uniquingKeysWith: { first, _ in first })
    }
}
