import PolyStoreBackend

/// A model's fingerprints as they were when a version of it was made final: whoever changes an entity of it afterwards, a name, a type, an index, hears of
/// it when the stack is made, and not from a user whose store can no longer be opened.
///
///     let schema = Schema("Company 1", Person.self, Department.self, versionLock: [
///         "Department": "b45c7711f5f3fd0e",
///         "Person": "0d3a4b5c6d7e8f90",
///     ])
///
/// ``Schema/versionLock`` gives the lock of a schema as it is now, and its description the literal to paste. What decides no stored byte is not in it:
/// defaults, rules of attributes, the version's name.
public struct VersionLock: Sendable, Hashable {
    enum Prints: Sendable, Hashable {
        /// That of the whole model, which tells only that something is different.
        case whole(String)
        /// By entity, which tells what is.
        case entities([String: String])
    }

    let prints: Prints

    /// - Parameter entities: 16 hexadecimal digits for each entity, by its name in the store.
    public init(_ entities: [String: String]) { prints = .entities(entities) }

    /// - Parameter versionHash: ``Schema/versionHash``.
    public init(versionHash: String) { prints = .whole(versionHash) }

    init(_ schema: SchemaDescription) {
        self.init(
            Dictionary(
                schema.entities.map { ($0.name, SchemaDescription(name: "", entities: [$0]).versionHash) }, uniquingKeysWith: { $1 }))
    }

    /// What is different in a model, a phrase each; empty where it is the same.
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
    public init(dictionaryLiteral entities: (String, String)...) { self.init(Dictionary(entities, uniquingKeysWith: { $1 })) }
    public init(stringLiteral versionHash: String) { self.init(versionHash: versionHash) }
}

extension VersionLock: CustomStringConvertible {
    /// As it is written in Swift.
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
    /// The lock of the model as it is now: print it, and paste it where the schema is made.
    public var versionLock: VersionLock { VersionLock(description(of: roots(of: models))) }

    /// - Throws: `invalidSchema` where the model is not what one of its locks says.
    func checkLocks() throws {
        for locked in locks {
            let now = description(of: roots(of: locked.models))
            let differences = locked.lock.differences(now)
            if differences.isEmpty { continue }
            let written: VersionLock
            if case .whole = locked.lock.prints { written = VersionLock(versionHash: now.versionHash) } else { written = VersionLock(now) }
            throw StoreError(
                .invalidSchema,
                "The schema \"\(locked.name)\" is not what its version lock says: \(differences.joined(separator: ", ")). If there are stores of the "
                    + "locked version, leave it as it was and make a new version with a name and a lock of its own; they cannot be opened with this one. "
                    + "If there are none, replace the lock by \(written)")
        }
    }
}
