import PolyStoreBackend

/// The fingerprints of a released version of a model. If an entity, a name or a type changes afterwards, creating the stack throws an error that
/// names the change. This prevents the release of an application that cannot open existing stores.
///
///     let schema = Schema("Company 1", Person.self, Department.self, versionLock: [
///         "Department": "b45c7711f5f3fd0e",
///         "Person": "0d3a4b5c6d7e8f90",
///     ])
///
/// ``Schema/versionLock`` is the current lock of a schema, and its description is the literal to paste. Changes that do not require a new version are
/// not part of it: plain indexes, default values, rules of attributes and the name of the version.
public struct VersionLock: Sendable, Hashable {
    enum Prints: Sendable, Hashable {
        /// The fingerprint of the whole model, which only detects that it was changed.
        case whole(String)
        /// The fingerprints by entity, which identify the changed entities.
        case entities([String: String])
    }

    let prints: Prints

    /// Creates a lock from fingerprints of entities.
    /// - Parameter entities: 16 hexadecimal digits for each entity, by its stored name.
    public init(_ entities: [String: String]) { prints = .entities(entities) }

    /// Creates a lock from the fingerprint of a whole model.
    /// - Parameter versionHash: the value of ``Schema/versionHash``.
    public init(versionHash: String) { prints = .whole(versionHash) }

    init(_ schema: SchemaDescription) {
        self.init(
            Dictionary(
                schema.entities.map { ($0.name, SchemaDescription(name: "", entities: [$0.withoutPlainIndexes]).versionHash) },
                uniquingKeysWith: { $1 }))
    }

    /// Returns a phrase for each difference from a model; empty if there is none.
    func differences(_ schema: SchemaDescription) -> [String] {
        switch prints {
        case .whole(let hash):
            let now = schema.versionHash
            return hash == now ? [] : ["its fingerprint is \(now) and not \(hash)"]
        case .entities(let locked):
            guard case .entities(let now) = VersionLock(schema).prints else { return [] }
            return Set(locked.keys).union(now.keys).sorted().compactMap { name in
                switch (locked[name], now[name]) {
                case (nil, _): "\(name) is new"
                case (_, nil): "\(name) is gone"
                case (let before?, let after?): before == after ? nil : "\(name) was changed"
                }
            }
        }
    }
}

extension VersionLock: ExpressibleByDictionaryLiteral, ExpressibleByStringLiteral {
    /// Creates a lock from fingerprints by stored entity name.
    public init(dictionaryLiteral entities: (String, String)...) { self.init(Dictionary(entities, uniquingKeysWith: { $1 })) }
    /// Creates a lock from the fingerprint of a whole model.
    public init(stringLiteral versionHash: String) { self.init(versionHash: versionHash) }
}

extension VersionLock: CustomStringConvertible {
    /// The lock as a Swift literal.
    public var description: String {
        switch prints {
        case .whole(let hash): return "\"\(hash)\""
        case .entities(let entities):
            if entities.isEmpty { return "[:]" }
            let lines = entities.sorted { $0.key < $1.key }.map { "    \($0.key.debugDescription): \"\($0.value)\",\n" }
            return "[\n\(lines.joined())]"
        }
    }
}

extension Schema {
    /// The current lock of the model. Print it and paste it into the initializer of the schema.
    public var versionLock: VersionLock { VersionLock(description(of: roots(of: models))) }

    /// Compares the model with its locks.
    /// - Parameter versions: earlier versions; the one that matches a lock is used to describe the changes.
    /// - Throws: `invalidSchema` if the model differs from one of its locks.
    func checkLocks(_ versions: (any KnownVersions)?) throws {
        for locked in locks {
            let now = description(of: roots(of: locked.models))
            let differences = locked.lock.differences(now)
            if differences.isEmpty { continue }
            let written: VersionLock
            if case .whole = locked.lock.prints { written = VersionLock(versionHash: now.versionHash) } else { written = VersionLock(now) }
            throw StoreError(
                .invalidSchema,
                "The schema \"\(locked.name)\" is not what its version lock says: \(differences.joined(separator: ", ")).\(inferred(locked, now, versions)) If there "
                    + "are stores of the locked version, do not change it: make a new version with a name and a lock of its own, to which they can be migrated. "
                    + "If there are none, replace the lock by \(written)")
        }
    }

    /// Returns a description of the migration from the locked version; empty if that version is unknown.
    private func inferred(_ locked: Lock, _ now: SchemaDescription, _ known: (any KnownVersions)?) -> String {
        guard let known else { return "" }
        for version in known.versions where !(version is Schema) {
            guard let old = try? version.description(ofConfiguration: nil), locked.lock.differences(old).isEmpty,
                let source = try? ResolvedSchema(old), let target = try? ResolvedSchema(now),
                let changes = known.changes(from: source, named: version.name, to: target, named: name)
            else { continue }
            return " The migration from the locked version would be: \(changes.joined(separator: "; "))."
        }
        return ""
    }
}
