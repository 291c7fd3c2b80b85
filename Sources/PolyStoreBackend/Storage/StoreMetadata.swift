/// The metadata that every store keeps about itself, independent of the engine.
public struct StoreMetadata: Sendable, Hashable {
    /// The version of the store's own format. Opening a store with a newer format fails.
    public var format: Int
    /// The store id: 32 hexadecimal digits, generated when the store is created. Part of the URI of every object.
    public var storeID: String
    /// The name of the configuration; `nil` for the default configuration.
    public var configurationName: String?
    /// The schema that the store was written for. For an open store it is the schema that the store was opened with, which may differ in its name and in
    /// default values.
    public var schema: SchemaDescription
    /// The ``SchemaDescription/versionHash`` of the schema.
    public var schemaHash: String

    /// Creates the metadata of a new store.
    public init(format: Int, request: OpenRequest) {
        self.format = format
        let digits = { (word: UInt64) in
            let text = String(word, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }
        storeID = request.conversion?.storeID ?? digits(.random(in: 0 ... .max)) + digits(.random(in: 0 ... .max))
        configurationName = request.configurationName
        schema = request.schema.description
        schemaHash = request.schema.versionHash
    }

    /// Creates metadata from the values that a store keeps.
    public init(format: Int, storeID: String, configurationName: String?, schema: SchemaDescription, schemaHash: String) {
        self.format = format
        self.storeID = storeID
        self.configurationName = configurationName
        self.schema = schema
        self.schemaHash = schemaHash
    }

    /// Creates metadata from the values of a store that is being opened. The stored schema is decoded only if its hash differs from that of the requested
    /// schema, to describe the differences, because decoding is the most expensive part of opening a store.
    /// - Parameters:
    ///   - format: The version of the file format.
    ///   - storeID: The id of the store.
    ///   - configurationName: The configuration that the store was created with; nil for the default one.
    ///   - schemaHash: The version hash of the stored schema.
    ///   - request: The request to open the store.
    ///   - schema: The result of ``SchemaDescription/encoded()``.
    public init(
        format: Int, storeID: String, configurationName: String?, schemaHash: String, request: OpenRequest,
        schema: @autoclosure () -> [UInt8]
    ) throws {
        let isSame = schemaHash == request.schema.versionHash
        self.init(
            format: format, storeID: storeID, configurationName: configurationName,
            schema: isSame ? request.schema.description : try SchemaDescription(encoded: schema()), schemaHash: schemaHash)
    }

    /// Checks whether a store with this metadata may be opened by a request.
    /// - Throws: `incompatibleSchema` for a newer format, `differentStoreAtURL` for another configuration, `migrationRequired` for
    ///   another schema, with the differences.
    ///
    /// - Parameters:
    ///   - request: The request to open the store.
    ///   - supportedFormat: The newest version of the file format that the backend reads.
    ///   - location: The location of the store, for errors.
    ///   - acceptsOtherIndexes: Accepts a schema of the same data, which differs in plain indexes, original names, defaults, delete rules and rules of attributes
    ///     only; see ``SchemaDescription/hasSameData(as:)``. Pass `true` if the backend then builds the missing indexes, removes the others and replaces the
    ///     stored schema.
    public func check(_ request: OpenRequest, supportedFormat: Int, location: String, acceptsOtherIndexes: Bool = false) throws {
        guard format <= supportedFormat else {
            throw StoreError(
                .incompatibleSchema,
                "The store \(location) has format \(format), and this version reads up to \(supportedFormat). Update the library.",
                location: location)
        }
        guard configurationName == request.configurationName else {
            var error = StoreError(
                .differentStoreAtURL,
                "The store \(location) belongs to the configuration \(Self.quoted(configurationName)) and was opened as \(Self.quoted(request.configurationName)).",
                location: location)
            error.storedConfiguration = configurationName
            throw error
        }
        guard schemaHash == request.schema.versionHash else {
            let changes = schema.differences(to: request.schema.description)
            // A schema of the same data needs no migration: the backend builds and removes indexes while the store is in use, and replaces the stored schema.
            if acceptsOtherIndexes, schema.hasSameData(as: request.schema.description) { return }
            var error = StoreError(
                .migrationRequired,
                "The store \(location) was written for model \"\(schema.name)\" (\(schemaHash)), not for \"\(request.schema.description.name)\" "
                    + "(\(request.schema.versionHash)): \(changes.prefix(8).joined(separator: "; "))\(changes.count > 8 ? "; …" : ""). "
                    + "Migrate it, open it with the model it was written for, or open it with .resettingOnModelMismatch() if its data may be lost.",
                location: location)
            error.storedSchema = schema
            throw error
        }
    }

    private static func quoted(_ name: String?) -> String { name.map { "\"\($0)\"" } ?? "default" }
}
