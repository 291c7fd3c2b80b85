import PolyStoreBackend

/// The imports of one transaction: what their references wait for, and the objects that were found.
///
/// Everything that needs the store is gathered while the sources of a call are read, and looked up together at its end, so that the number of
/// queries depends on the number of entities and not on that of the sources.
@usableFromInline
final class ImportState {
    private struct Key: Hashable {
        let type: ObjectIdentifier
        let slot: Int32
    }

    private unowned let transaction: Transaction
    private var importersByKey: [Key: any ReferenceResolver] = [:]
    /// In the order of their first use.
    private var importers: [any ReferenceResolver] = []
    /// The number of import calls that are running, each inside the one before.
    private var depth = 0
    private var assignments = 0

    init(_ transaction: Transaction) { self.transaction = transaction }

    /// Returns what imports objects of a class into a store.
    @usableFromInline
    func importer<T: ImportableUniqueObject>(_ into: Into<T>) throws -> UniqueImporter<T> {
        let entry = try transaction.entry(for: into)
        let key = Key(type: ObjectIdentifier(T.self), slot: entry.slot)
        if let known = importersByKey[key] as? UniqueImporter<T> { return known }
        let importer = try UniqueImporter<T>(transaction, entry)
        importersByKey[key] = importer
        importers.append(importer)
        return importer
    }

    /// Returns the number of a new assignment of references.
    func nextAssignment() -> Int {
        assignments += 1
        return assignments
    }

    /// Runs an import call. At the end of the outermost one the references are resolved.
    @usableFromInline
    func call<R>(_ body: () throws -> R) throws -> R {
        depth += 1
        defer {
            depth -= 1
            if depth == 0 { for importer in importers { importer.forgetCalls() } }
        }
        let result = try body()
        if depth == 1 { try resolve(isFinal: false) }
        return result
    }

    /// Resolves the references that wait.
    /// - Parameter isFinal: whether those whose targets do not exist are errors now.
    /// - Throws: `notFound` with the references that cannot be resolved; what the imports of nested sources throw.
    func resolve(isFinal: Bool) throws {
        depth += 1
        defer { depth -= 1 }
        // An import of nested sources may gather more of them, for any entity.
        var index = 0
        var idle = 0
        while idle < importers.count {
            let importer = importers[index % importers.count]
            idle = try importer.resolve(isFinal: isFinal) ? 0 : idle + 1
            index += 1
        }
        guard isFinal else { return }
        let missing = try importers.flatMap { try $0.endReferences() }
        guard let first = missing.first else { return }
        let listed = missing.prefix(5).map(\.description).joined(separator: "; ")
        var error = StoreError(
            .notFound,
            "\(missing.count == 1 ? "A reference" : "\(missing.count) references") of an import cannot be resolved: \(listed)"
                + (missing.count > 5 ? "; …" : "")
                + ". Import the missing objects in the same transaction, or pass ifMissing: .ignore or .createStub.",
            entity: first.entity)
        error.violations = missing.compactMap { $0.holder.violation($0.description) }
        throw error
    }
}

/// What resolves references to the objects of one entity.
protocol ReferenceResolver: AnyObject {
    /// Imports nested sources and resolves references.
    /// - Returns: whether there was anything to do.
    func resolve(isFinal: Bool) throws -> Bool
    /// Ends the references whose targets do not exist.
    /// - Returns: those for which that is an error; they stay.
    func endReferences() throws -> [UnresolvedReference]
    /// Releases what was kept for the import calls that have ended.
    func forgetCalls()
}

/// A reference whose target does not exist.
struct UnresolvedReference: CustomStringConvertible {
    let entity: String
    let key: ImportKey
    /// What the reference was made for.
    let holder: ReferenceHolder

    var description: String { "\(holder.description) leads to \(entity) \(key), which does not exist" }
}
