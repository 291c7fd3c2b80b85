import PolyStoreBackend
import PolyStoreKernel

/// The effect of importing a record.
enum ImportEffect {
    case inserted
    case updated
    /// The model skipped the record.
    case skipped
}

/// Creates objects from the sources of one batch in one transaction.
protocol SourceImporter<Source> {
    associatedtype Source
    /// Determines the unique id of a source. Called once for each source, before any is imported.
    func identify(_ index: Int, _ source: Source) throws
    /// Looks up the existing objects.
    func lookUp() throws
    /// Inserts or updates the object of a source.
    func importSource(_ index: Int, _ source: Source) throws -> ImportEffect
    /// Returns the unique id of a source in readable form; `nil` for objects without one.
    func uniqueID(_ index: Int) -> String?
    /// The row of the last source that has a unique id, also if it changed nothing; `nil` if there was none.
    var importedRow: RowReference? { get }
}

/// Inserts an object for each source.
struct PlainSourceImporter<T: ImportableObject>: SourceImporter {
    let transaction: Transaction
    let entry: StoreEntity

    init(_ transaction: Transaction, _ into: Into<T>) throws {
        self.transaction = transaction
        entry = try transaction.entry(for: into)
    }

    func identify(_ index: Int, _ source: T.ImportSource) {}
    func lookUp() {}
    func uniqueID(_ index: Int) -> String? { nil }
    var importedRow: RowReference? { nil }

    func importSource(_ index: Int, _ source: T.ImportSource) throws -> ImportEffect {
        guard try T.shouldInsert(from: source, in: transaction) else { return .skipped }
        try transaction.create(T.self, entry).didInsert(from: source, in: transaction)
        return .inserted
    }
}

/// Updates the objects with the unique ids of the sources and inserts missing ones. Sources with equal ids are imported one after another.
final class UniqueSourceImporter<T: ImportableUniqueObject>: SourceImporter {
    private let importer: UniqueImporter<T>
    private var call: UniqueImporter<T>.Call?
    private var index = ImportKeyIndex()
    private var ids: [(id: T.UniqueIDType, position: Int)?] = []
    private(set) var importedRow: RowReference?

    init(_ transaction: Transaction, _ into: Into<T>) throws { importer = try transaction.importing.importer(into) }

    func identify(_ index: Int, _ source: T.ImportSource) throws {
        while ids.count <= index { ids.append(nil) }
        guard let id = try T.uniqueID(from: source, in: importer.transaction) else { return }
        ids[index] = (id, self.index.insert(importer.key(of: id)))
    }

    func lookUp() throws {
        let call = UniqueImporter<T>.Call(index)
        try importer.begin(call)
        self.call = call
    }

    func importSource(_ index: Int, _ source: T.ImportSource) throws -> ImportEffect {
        guard ids.indices.contains(index), let (id, position) = ids[index], let call,
            let (object, isNew) = try importer.importSource(source, id, call, position)
        else { return .skipped }
        importedRow = RowReference(entityIndex: object._$state.entityIndex, rowID: object._$state.rowID)
        return isNew ? .inserted : .updated
    }

    /// Returns whether a source has a unique id.
    func hasID(_ index: Int) -> Bool { ids.indices.contains(index) && ids[index] != nil }

    func uniqueID(_ index: Int) -> String? { ids.indices.contains(index) ? ids[index].map { importer.key(of: $0.id).description } : nil }
}

/// Updates the objects of the sources that have a unique id, and inserts an object for each other source.
final class OptionallyUniqueSourceImporter<T: ImportableUniqueObject>: SourceImporter {
    private let unique: UniqueSourceImporter<T>?
    private let plain: PlainSourceImporter<T>

    init(_ transaction: Transaction, _ into: Into<T>, hasUniqueID: Bool) throws {
        unique = hasUniqueID ? try UniqueSourceImporter(transaction, into) : nil
        plain = try PlainSourceImporter(transaction, into)
    }

    func identify(_ index: Int, _ source: T.ImportSource) throws { try unique?.identify(index, source) }
    func lookUp() throws { try unique?.lookUp() }
    func uniqueID(_ index: Int) -> String? { unique?.uniqueID(index) }
    var importedRow: RowReference? { unique?.importedRow }

    func importSource(_ index: Int, _ source: T.ImportSource) throws -> ImportEffect {
        if let unique, unique.hasID(index) { return try unique.importSource(index, source) }
        return try plain.importSource(index, source)
    }
}

extension ImportableObject {
    /// Returns the importer of the class for a transaction, which uses unique ids if the class has them.
    static func sourceImporter(_ transaction: Transaction, _ into: Into<Self>) throws -> any SourceImporter<ImportSource> {
        func unique<U: ImportableUniqueObject>(_ type: U.Type) throws -> (any SourceImporter<ImportSource>)? {
            guard let into = into as? Into<U> else { return nil }
            if let type = type as? any OptionallyUniqueObject.Type {
                return try OptionallyUniqueSourceImporter<U>(transaction, into, hasUniqueID: type.hasUniqueID)
                    as? any SourceImporter<ImportSource>
            }
            return try UniqueSourceImporter<U>(transaction, into) as? any SourceImporter<ImportSource>
        }
        if let type = Self.self as? any ImportableUniqueObject.Type, let importer = try unique(type) { return importer }
        return try PlainSourceImporter(transaction, into)
    }
}
