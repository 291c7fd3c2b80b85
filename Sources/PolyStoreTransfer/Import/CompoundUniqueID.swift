import PolyStoreBackend
public import PolyStoreFormats
import PolyStoreKernel

/// A unique id that consists of several stored properties.
///
///     @Model
///     final class Seat {
///         var hall: String
///         var number: Int
///         #Unique<Seat>(\.hall, \.number)
///     }
///
///     extension Seat: ImportableUniqueObject {
///         static var uniqueIDKeyPath: CompoundUniqueID<Seat, String, Int> { .init(\.hall, \.number) }
///
///         static func uniqueID(from source: SeatSource, in transaction: Transaction) throws -> UniqueIDValues<String, Int>? {
///             UniqueIDValues(source.hall, source.number)
///         }
///
///         func update(from source: SeatSource, in transaction: Transaction) throws {}
///     }
///
/// A part can be a to-one relationship; its value is the related object.
public struct CompoundUniqueID<Root: Model, each Part: Hashable>: UniqueIDKeyPath {
    public typealias UniqueIDValue = UniqueIDValues<repeat each Part>

    private let paths: (repeat ReferenceWritableKeyPath<Root, each Part>)

    /// Creates the unique id from the key paths of its parts.
    public init(_ paths: repeat ReferenceWritableKeyPath<Root, each Part>) { self.paths = (repeat each paths) }

    public func _$access() throws -> UniqueIDAccess<UniqueIDValue> {
        func part<P>(_ path: ReferenceWritableKeyPath<Root, P>) throws -> UniqueIDPart<Root, P> { try UniqueIDPart(path) }
        let parts = (repeat try part(each paths))
        var fields: [FieldReference] = []
        for part in repeat each parts { fields.append(part.field) }
        return UniqueIDAccess(
            fields: fields,
            key: { id in
                var values: [Value] = []
                for (part, value) in repeat (each parts, each id.parts) { values += part.key(value).values }
                return ImportKey(values)
            },
            read: { object in
                guard let object = object as? Root else { return nil }
                var values: [Value] = []
                for part in repeat each parts { values += part.key(object[keyPath: part.path]).values }
                return ImportKey(values)
            },
            assign: { id, object in
                guard let object = object as? Root else { return }
                for (part, value) in repeat (each parts, each id.parts) { object[keyPath: part.path] = value }
            })
    }
}

/// The values of a ``CompoundUniqueID``.
public struct UniqueIDValues<each Part: Hashable>: Hashable {
    /// The values of the parts.
    public let parts: (repeat each Part)

    /// Creates the unique id from the values of its parts.
    public init(_ parts: repeat each Part) { self.parts = (repeat each parts) }

    public static func == (left: UniqueIDValues, right: UniqueIDValues) -> Bool {
        for (first, second) in repeat (each left.parts, each right.parts) { if first != second { return false } }
        return true
    }

    public func hash(into hasher: inout Hasher) { for part in repeat each parts { hasher.combine(part) } }
}

extension UniqueIDValues: ConvertibleFromSource where repeat each Part: ConvertibleFromSource {
    /// Creates the unique id from an array with one value per part, as an export writes it. If text is converted, the array may also be JSON text.
    public init(source: JSONValue, options: ConversionOptions) throws {
        let reader = UniqueIDPartReader(source, try [JSONValue](source: source, options: options), options)
        self.init(repeat try reader.next((each Part).self))
        try reader.finish()
    }
}

/// Converts the values of an array to the parts of a unique id. A class, because the compiler crashes on a local function that mutates variables in a parameter
/// pack.
private final class UniqueIDPartReader {
    private let source: JSONValue
    private let values: [JSONValue]
    private let options: ConversionOptions
    private var position = 0

    init(_ source: JSONValue, _ values: [JSONValue], _ options: ConversionOptions) {
        self.source = source
        self.values = values
        self.options = options
    }

    func next<Part: ConvertibleFromSource>(_ type: Part.Type) throws -> Part {
        guard position < values.count else { throw RecordError.wrongType(expected: "a value for each part of the id", found: source) }
        defer { position += 1 }
        do {
            return try Part(source: values[position], options: options)
        } catch let error as RecordError {
            throw error.atIndex(position)
        }
    }

    /// - Throws: `wrongType` if there are more values than parts.
    func finish() throws {
        guard position == values.count else { throw RecordError.wrongType(expected: "an array of \(position) values", found: source) }
    }
}
