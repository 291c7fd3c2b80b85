public import PolyStoreFormats

/// How the objects of a model are filled from import sources, as a value: each property with the field that it comes from.
///
///     extension Airport: MappedObject {
///         static let importMapping = ImportMapping<Airport, SourceRecord>()
///             .attribute(\.name)
///             .attribute(\.elevationFeet, from: "elevation", default: 0)
///             .relationship(\.country, from: "country")
///     }
///
/// A mapping of a model whose objects have a unique id is a ``UniqueImportMapping``. The sources are records of files (``SourceRecord``) or any other type, whose
/// fields are named by key paths.
public struct ImportMapping<Object: Model, Source>: MappingBuilder {
    public var _$steps = MappingSteps<Object, Source>()

    /// Creates a mapping without properties.
    public init() {}
}

/// How the objects of a model with a unique id are filled from import sources.
///
///     extension City: MappedUniqueObject {
///         static let importMapping = UniqueImportMapping(\City.geonameID, from: "geonameid")
///             .attribute(\.name)
///             .attribute(\.population, default: 0)
///             .relationship(\.country, from: "countrycode")
///     }
public struct UniqueImportMapping<Object: Model, Source, Path: UniqueIDKeyPath>: MappingBuilder, UniqueObjectMapping {
    public var _$steps = MappingSteps<Object, Source>()
    private nonisolated(unsafe) let path: Path  // key paths of stored properties hold no state
    private let id: @Sendable (Source, ConversionOptions) throws -> Path.UniqueIDValue?

    /// Creates a mapping whose unique id a closure returns.
    /// - Parameters:
    ///   - path: the key path of the attribute, an ``OptionalUniqueID`` or a ``CompoundUniqueID``.
    ///   - id: returns the id of a source; nil skips the source.
    public init(_ path: Path, of type: Object.Type = Object.self, id: @escaping @Sendable (Source) throws -> Path.UniqueIDValue?) {
        self.path = path
        self.id = { source, _ in try id(source) }
    }

    private init(_ path: Path, field: String, _ id: @escaping @Sendable (Source, ConversionOptions) throws -> Path.UniqueIDValue?) {
        self.path = path
        self.id = id
        _$steps.uniqueField = field
    }

    public var _$uniqueIDPath: Path { path }
    public func _$uniqueID(_ source: Source) throws -> Path.UniqueIDValue? { try id(source, _$steps.options) }
}

extension UniqueImportMapping where Source == SourceRecord {
    /// Creates a mapping whose unique id is the value of a field. A record without the field, or with null, is skipped.
    /// - Parameter field: the name or path of the field; the default is the stored name of the attribute.
    public init<ID: ConvertibleFromSource>(_ path: Path, from field: String? = nil)
    where Path == ReferenceWritableKeyPath<Object, ID>, Path.UniqueIDValue == ID {
        let field = field ?? MappingSteps<Object, Source>.storedName(path)
        self.init(path, field: field) { record, options in try record.optional(field, as: ID.self, options: options) }
    }

    /// Creates a mapping whose unique id is the value of a field and is stored in an optional attribute.
    public init<ID: ConvertibleFromSource>(_ path: Path, from field: String)
    where Path == OptionalUniqueID<Object, ID>, Path.UniqueIDValue == ID {
        self.init(path, field: field) { record, options in try record.optional(field, as: ID.self, options: options) }
    }
}

extension UniqueImportMapping {
    /// Creates a mapping whose unique id is a property of the source.
    public init<ID>(_ path: Path, from property: KeyPath<Source, ID> & Sendable)
    where Path == ReferenceWritableKeyPath<Object, ID>, Path.UniqueIDValue == ID {
        self.init(path, field: "\(property)") { source, _ in source[keyPath: property] }
    }

    /// Creates a mapping whose unique id is an optional property of the source; nil skips the source.
    public init<ID>(_ path: Path, from property: KeyPath<Source, ID?> & Sendable)
    where Path == ReferenceWritableKeyPath<Object, ID>, Path.UniqueIDValue == ID {
        self.init(path, field: "\(property)") { source, _ in source[keyPath: property] }
    }
}

/// A mapping as the importer uses it.
public protocol ObjectMapping: Sendable {
    associatedtype Source
    /// Reads the values of an object from a source.
    func _$apply(_ source: Source, to object: any Model, in transaction: Transaction) throws
}

/// A mapping of a model with a unique id.
public protocol UniqueObjectMapping: ObjectMapping {
    associatedtype Path: UniqueIDKeyPath
    var _$uniqueIDPath: Path { get }
    func _$uniqueID(_ source: Source) throws -> Path.UniqueIDValue?
}

/// A model that is imported by an ``ImportMapping``.
public protocol MappedObject: ImportableObject where ImportSource == Mapping.Source {
    associatedtype Mapping: ObjectMapping
    /// The fields of the model's import sources.
    static var importMapping: Mapping { get }
}

extension MappedObject {
    public func didInsert(from source: ImportSource, in transaction: Transaction) throws {
        try Self.importMapping._$apply(source, to: self, in: transaction)
    }
}

/// A model that is imported by a ``UniqueImportMapping``.
public protocol MappedUniqueObject: ImportableUniqueObject
where ImportSource == Mapping.Source, UniqueIDPath == Mapping.Path, UniqueIDType == Mapping.Path.UniqueIDValue {
    associatedtype Mapping: UniqueObjectMapping
    /// The fields of the model's import sources.
    static var importMapping: Mapping { get }
}

extension MappedUniqueObject {
    public static var uniqueIDKeyPath: Mapping.Path { importMapping._$uniqueIDPath }

    public static func uniqueID(from source: ImportSource, in transaction: Transaction) throws -> UniqueIDType? {
        try importMapping._$uniqueID(source)
    }

    public func update(from source: ImportSource, in transaction: Transaction) throws {
        try Self.importMapping._$apply(source, to: self, in: transaction)
    }
}
