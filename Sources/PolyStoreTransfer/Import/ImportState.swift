import PolyStoreBackend
import PolyStoreKernel

/// The state of the imports of one transaction: pending references, and the objects that were found.
///
/// Lookups are collected while the sources of a call are read and executed together at its end, so that the number of
/// queries depends on the number of entities instead of the number of sources.
@usableFromInline
final class ImportState: PendingImports {
    private struct Key: Hashable {
        let type: ObjectIdentifier
        let entityIndex: Int32
    }

    private unowned let transaction: Transaction
    private var importersByKey: [Key: any ReferenceResolver] = [:]
    /// The importers, in order of first use.
    private var importers: [any ReferenceResolver] = []
    /// The nesting depth of the running import calls.
    private var depth = 0
    private var assignments = 0

    init(_ transaction: Transaction) { self.transaction = transaction }

    /// Returns the importer for objects of a class in a store.
    @usableFromInline
    func importer<T: ImportableUniqueObject>(_ into: Into<T>) throws -> UniqueImporter<T> {
        let entry = try transaction.entry(for: into)
        let key = Key(type: ObjectIdentifier(T.self), entityIndex: entry.entityIndex)
        if let known = importersByKey[key] as? UniqueImporter<T> { return known }
        let importer = try UniqueImporter<T>(transaction, entry)
        importersByKey[key] = importer
        importers.append(importer)
        return importer
    }

    /// The assignments that wait for the other records of the import.
    private(set) lazy var deferred: DeferredAssignments = {
        let deferred = DeferredAssignments()
        importers.append(deferred)
        return deferred
    }()

    /// Returns the sequence number of a new assignment of references.
    func nextAssignment() -> Int {
        assignments += 1
        return assignments
    }

    /// Runs an import call. The outermost call resolves the references at its end.
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

    // MARK: Changed unique ids

    /// Called before the first change of an object, and before the first one after recording was requested.
    func willEdit(_ object: any Model) {
        guard depth > 0 else { return }
        for importer in importers where importer.entityIndex == object._$state.entityIndex { importer.willEdit(object) }
    }

    /// Checks that no two objects have the unique ids that were assigned since the last check.
    /// - Throws: `constraint` with the first object whose id another object has.
    func checkChangedIDs() throws { for importer in importers { try importer.checkChangedIDs() } }

    /// Called after the changes of a record were undone.
    func forgetUncheckedIDs() { for importer in importers { importer.forgetUncheckedIDs() } }

    func resolveAll() throws { try resolve(isFinal: true) }

    /// Resolves the pending references.
    /// - Parameter isFinal: A Boolean value that indicates whether missing targets are errors now.
    /// - Throws: `notFound` with the references that cannot be resolved; errors of the imports of nested sources.
    func resolve(isFinal: Bool) throws {
        depth += 1
        defer { depth -= 1 }
        // An import of nested sources may add more of them, for any entity.
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

/// A type that resolves references to the objects of one entity.
protocol ReferenceResolver: AnyObject {
    /// The entity index of the objects.
    var entityIndex: Int32 { get }
    /// Called before the first change of an object of the entity, and before the first one after the object was imported.
    func willEdit(_ object: any Model)
    /// Checks that no other object has the ids that were assigned since the last check.
    func checkChangedIDs() throws
    /// Called after the changes of a record were undone.
    func forgetUncheckedIDs()
    /// Imports nested sources and resolves references.
    /// - Returns: A Boolean value that indicates whether there was anything to do.
    func resolve(isFinal: Bool) throws -> Bool
    /// Removes the references whose targets do not exist.
    /// - Returns: The references for which a missing target is an error; these are kept.
    func endReferences() throws -> [UnresolvedReference]
    /// Releases the state of import calls that have ended.
    func forgetCalls()
}

/// A reference whose target does not exist.
struct UnresolvedReference: CustomStringConvertible {
    let entity: String
    let key: ImportKey
    /// The object or closure that the reference belongs to.
    let holder: ReferenceHolder
    /// The reason, as the end of a clause.
    var problem = "does not exist"

    var description: String { "\(holder.description) leads to \(entity) \(key), which \(problem)" }
}
