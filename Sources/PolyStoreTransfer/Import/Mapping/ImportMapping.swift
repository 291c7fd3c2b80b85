import PolyStoreBackend
public import PolyStoreFormats
import PolyStoreKernel

/// A mapping from the fields of import sources to the properties of a model.
///
///     extension City: MappedUniqueObject {
///         static var uniqueIDKeyPath: WritableKeyPath<City, Int> { \.geonameID }
///
///         static let importMapping: RecordMapping<City> = RecordMapping(uniqueID: "geonameid")
///             .attribute(\.name)
///             .attribute(\.population, default: 0)
///             .relationship(\.country, from: "countrycode")
///     }
///
/// The sources are records of files (``RecordMapping``) or values of any other type, whose properties are selected by key paths.
public struct ImportMapping<Object: Model, Source>: MappingBuilder {
    public var _$steps = MappingSteps<Object, Source>()

    /// Creates a mapping without properties.
    public init() {}
}

/// A mapping of records.
public typealias RecordMapping<Object: Model> = ImportMapping<Object, SourceRecord>

extension ImportMapping where Source == SourceRecord {
    /// Creates a mapping without properties, for a model with a unique id.
    /// - Parameter field: The name or path of the field that contains the unique id. A record without the field, or with null, is skipped.
    public init(uniqueID field: String) { _$steps.uniqueField = field }
}

/// The interface of a mapping that the importer uses.
public protocol ObjectMapping: Sendable {
    /// The type of the import sources.
    associatedtype Source
    /// Reads the values of an object from a source.
    func _$apply(_ source: Source, to object: any Model, in transaction: Transaction) throws
    /// The name of the field that contains the unique id.
    var _$uniqueField: String? { get }
    /// The options for the conversion of values.
    var _$options: ConversionOptions { get }
}

/// A model that is imported by an ``ImportMapping``.
///
///     extension Visit: MappedObject {
///         static let importMapping: RecordMapping<Visit> = RecordMapping().attribute(\.date).relationship(\.city)
///     }
public protocol MappedObject: ImportableObject where ImportSource == Mapping.Source {
    /// The type of the mapping.
    associatedtype Mapping: ObjectMapping
    /// The fields of the model's import sources.
    static var importMapping: Mapping { get }
}

extension MappedObject {
    public func didInsert(from source: ImportSource, in transaction: Transaction) throws {
        try Self.importMapping._$apply(source, to: self, in: transaction)
    }
}

/// A model with a unique id that is imported by an ``ImportMapping``.
///
/// The mapping of records contains the field of the unique id. For other sources, and for a ``CompoundUniqueID``, implement `uniqueID(from:in:)`.
public protocol MappedUniqueObject: ImportableUniqueObject where ImportSource == Mapping.Source {
    /// The type of the mapping.
    associatedtype Mapping: ObjectMapping
    /// The fields of the model's import sources.
    static var importMapping: Mapping { get }
}

extension MappedUniqueObject {
    public func update(from source: ImportSource, in transaction: Transaction) throws {
        try Self.importMapping._$apply(source, to: self, in: transaction)
    }
}

extension MappedUniqueObject where ImportSource == SourceRecord, UniqueIDType: ConvertibleFromSource {
    /// Returns the value of the field that the mapping names as the unique id; nil if the field is missing or null.
    /// - Throws: `misuse` if the mapping names no such field, `RecordError` if the value cannot be converted.
    public static func uniqueID(from source: SourceRecord, in transaction: Transaction) throws -> UniqueIDType? {
        let mapping = importMapping
        guard let field = mapping._$uniqueField else {
            throw StoreError(
                .misuse,
                "The importMapping of \(_$entityName) does not name the field of the unique id. Create it with RecordMapping(uniqueID: \"…\").",
                entity: _$entityName)
        }
        return try source.optional(field, as: UniqueIDType.self, options: mapping._$options)
    }
}
