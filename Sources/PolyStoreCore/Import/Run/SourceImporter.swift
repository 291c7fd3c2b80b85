import PolyStoreBackend

/// What became of a record.
enum ImportEffect {
    case inserted
    case updated
    /// The model left it out.
    case skipped
}

/// Makes objects of the sources of one batch, in one transaction.
protocol SourceImporter<Source> {
    associatedtype Source
    /// Finds out the unique id of a source. Called once for each source, before any is imported.
    func identify(_ index: Int, _ source: Source) throws
    /// Looks up the objects that exist.
    func lookUp() throws
    /// Inserts or updates the object of a source.
    func importSource(_ index: Int, _ source: Source) throws -> ImportEffect
    /// The unique id of a source, for people; nil for objects without one.
    func uniqueID(_ index: Int) -> String?
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

    func importSource(_ index: Int, _ source: T.ImportSource) throws -> ImportEffect {
        guard try T.shouldInsert(from: source, in: transaction) else { return .skipped }
        try transaction.create(T.self, entry).didInsert(from: source, in: transaction)
        return .inserted
    }
}

/// Updates the objects that have the unique ids of the sources, and inserts those that do not exist. Sources with one id are imported one after another.
final class UniqueSourceImporter<T: ImportableUniqueObject>: SourceImporter {
    private let importer: UniqueImporter<T>
    private var call: UniqueImporter<T>.Call?
    private var index = ImportKeyIndex()
    private var ids: [(id: T.UniqueIDType, position: Int)?] = []

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
            let (_, isNew) = try importer.importSource(source, id, call, position)
        else { return .skipped }
        return isNew ? .inserted : .updated
    }

    func uniqueID(_ index: Int) -> String? { ids.indices.contains(index) ? ids[index].map { importer.key(of: $0.id).description } : nil }
}

extension ImportableObject {
    /// The importer of the class for a transaction: by unique ids where it has them.
    static func sourceImporter(_ transaction: Transaction, _ into: Into<Self>) throws -> any SourceImporter<ImportSource> {
        func unique<U: ImportableUniqueObject>(_ type: U.Type) throws -> (any SourceImporter<ImportSource>)? {
            guard let into = into as? Into<U> else { return nil }
            return try UniqueSourceImporter<U>(transaction, into) as? any SourceImporter<ImportSource>
        }
        if let type = Self.self as? any ImportableUniqueObject.Type, let importer = try unique(type) { return importer }
        return try PlainSourceImporter(transaction, into)
    }
}
