/// What every store keeps about itself, whatever the engine.
public struct StoreMetadata: Sendable, Hashable {
    /// The layout of the store itself; a newer one is refused.
    public var format: Int
    /// 32 hexadecimal digits, drawn when the store is made. Part of every object's URI.
    public var storeID: String
    public var configurationName: String?
    /// The model that the store was written for. Of an open store it is the one that it was opened with, which may differ in its name and in defaults.
    public var schema: SchemaDescription
    public var schemaHash: String

    /// For a store that is made now.
    public init(format: Int, request: OpenRequest) {
        self.format = format
        let digits = { (word: UInt64) in
            let text = String(word, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }
        storeID = digits(.random(in: 0 ... .max)) + digits(.random(in: 0 ... .max))
        configurationName = request.configurationName
        schema = request.schema.description
        schemaHash = request.schema.versionHash
    }

    /// As read back from a store.
    public init(format: Int, storeID: String, configurationName: String?, schema: SchemaDescription, schemaHash: String) {
        self.format = format
        self.storeID = storeID
        self.configurationName = configurationName
        self.schema = schema
        self.schemaHash = schemaHash
    }

    /// As read back from a store that is to be opened. The model that the store keeps is decoded only where its hash is not that of the model
    /// asked for, to say what differs: decoding costs more than everything else of an opening.
    /// - Parameter schema: as ``SchemaDescription/encoded()`` wrote it.
    public init(
        format: Int, storeID: String, configurationName: String?, schemaHash: String, request: OpenRequest,
        schema: @autoclosure () -> [UInt8]
    ) throws {
        let isSame = schemaHash == request.schema.versionHash
        self.init(
            format: format, storeID: storeID, configurationName: configurationName,
            schema: isSame ? request.schema.description : try SchemaDescription(encoded: schema()), schemaHash: schemaHash)
    }

    /// Whether a store that holds this may be opened as asked.
    /// - Throws: `incompatibleSchema` for a newer format, `differentStoreAtURL` for another configuration, `migrationRequired` for
    ///   another model, with what differs.
    public func check(_ request: OpenRequest, supportedFormat: Int, url: String) throws {
        guard format <= supportedFormat else {
            throw StoreError(
                .incompatibleSchema,
                "The store \(url) has format \(format), and this version reads up to \(supportedFormat). Update the library.",
                url: url)
        }
        guard configurationName == request.configurationName else {
            throw StoreError(
                .differentStoreAtURL,
                "The store \(url) belongs to the configuration \(Self.told(configurationName)) and was opened as \(Self.told(request.configurationName)).",
                url: url)
        }
        guard schemaHash == request.schema.versionHash else {
            let changes = schema.differences(to: request.schema.description)
            throw StoreError(
                .migrationRequired,
                "The store \(url) was written for model \"\(schema.name)\" (\(schemaHash)), not for \"\(request.schema.description.name)\" "
                    + "(\(request.schema.versionHash)): \(changes.prefix(8).joined(separator: "; "))\(changes.count > 8 ? "; …" : ""). "
                    + "Open it with the model it was written for, or ask for resetsOnModelMismatch if its data may be lost.",
                url: url)
        }
    }

    private static func told(_ name: String?) -> String { name.map { "\"\($0)\"" } ?? "default" }
}
