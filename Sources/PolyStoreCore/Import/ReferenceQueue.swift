import PolyStoreBackend

/// What happens to a reference whose target neither exists nor is imported.
public enum MissingReference: Sendable, Hashable {
    /// The commit of the transaction fails with `notFound`, naming the object and the unique id.
    case fail
    /// The relationship stays empty; of a to-many relationship the target is left out.
    case ignore
    /// An object is inserted that has the unique id and nothing else; a later import updates it.
    case createStub
}

/// The references to objects of one class that wait for the end of an import call.
final class ReferenceQueue<T: ImportableUniqueObject> {
    private struct Waiting {
        let id: T.UniqueIDType
        var isLookedUp = false
        /// Whether one of the references asks for a stub.
        var createsStub = false
        var isRequired = false
        var links: [(assign: (T?) throws -> Void, source: () -> String)] = []
    }

    private var waiting: [ImportKey: Waiting] = [:]
    /// Ids in the order of the references, so that stubs are inserted in that order.
    private var order: [ImportKey] = []
    private var sources: [T.ImportSource] = []
    /// Targets that were found before.
    private var resolved: [ImportKey: T] = [:]
    private var missing: [(ImportKey, String)] = []

    /// Adds a source that is imported at the end of the call.
    func add(_ source: T.ImportSource) { sources.append(source) }

    /// Returns the target of a reference that was resolved before.
    func known(_ key: ImportKey, _ importer: UniqueImporter<T>) -> T? {
        guard let object = resolved[key] else { return nil }
        if importer.isObject(object, of: key) { return object }
        resolved[key] = nil
        return nil
    }

    /// Adds a reference.
    /// - Parameters:
    ///   - assign: sets the relationship; gets nil where the target is missing and ignored.
    ///   - source: describes the relationship for an error.
    func add(
        _ id: T.UniqueIDType, _ key: ImportKey, _ policy: MissingReference, assign: @escaping (T?) throws -> Void,
        source: @escaping () -> String
    ) {
        if waiting[key] == nil { order.append(key) }
        waiting[key, default: Waiting(id: id)].links.append((assign, source))
        switch policy {
        case .fail: waiting[key]?.isRequired = true
        case .createStub: waiting[key]?.createsStub = true
        case .ignore: break
        }
    }

    /// - Returns: whether there was anything to do.
    func resolve(_ importer: UniqueImporter<T>, isFinal: Bool) throws -> Bool {
        let nested = sources
        sources = []
        if !nested.isEmpty { _ = try importer.transaction.importUniqueObjects(importer, nested) }
        guard !waiting.isEmpty else { return !nested.isEmpty }
        var didResolve = try resolveKnown(importer)
        let wanted = order.filter { key in waiting[key].map { isFinal || !$0.isLookedUp } ?? false }
        if !wanted.isEmpty {
            var found: [ImportKey: T] = [:]
            try importer.fetch(wanted) { found[$0] = $1 }
            for key in wanted {
                if let object = found[key] {
                    try finish(key, object)
                    didResolve = true
                } else if let entry = waiting[key], entry.createsStub {
                    try finish(key, try importer.insertStub(entry.id))
                    didResolve = true
                } else {
                    waiting[key]?.isLookedUp = true
                }
            }
        }
        if isFinal { try giveUp() }
        order.removeAll { waiting[$0] == nil }
        return didResolve || !nested.isEmpty
    }

    /// Resolves the references to what the import calls have found or inserted.
    private func resolveKnown(_ importer: UniqueImporter<T>) throws -> Bool {
        var didResolve = false
        guard importer.recentCalls.contains(where: { !$0.index.isEmpty }) else { return false }
        for key in order where waiting[key] != nil {
            guard let object = importer.known(key) else { continue }
            try finish(key, object)
            didResolve = true
        }
        return didResolve
    }

    private func finish(_ key: ImportKey, _ object: T) throws {
        guard let entry = waiting.removeValue(forKey: key) else { return }
        resolved[key] = object
        for link in entry.links { try link.assign(object) }
    }

    /// Ends the references whose targets do not exist.
    private func giveUp() throws {
        for key in order {
            guard let entry = waiting.removeValue(forKey: key) else { continue }
            for link in entry.links {
                if entry.isRequired { missing.append((key, link.source())) } else { try link.assign(nil) }
            }
        }
    }

    func takeMissing(_ entity: String) -> [UnresolvedReference] {
        defer { missing = [] }
        return missing.map { UnresolvedReference(entity: entity, key: $0.0, source: $0.1) }
    }
}
