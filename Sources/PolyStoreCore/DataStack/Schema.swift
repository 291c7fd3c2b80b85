import PolyStoreBackend

/// A version of a model: the classes, and which of them belong to which configuration.
///
///     let schema = Schema("Company 1", Person.self, Department.self)
///     let split = Schema("Company 1", [Person.self, Visit.self], configurations: ["Cache": [Visit.self], "Main": [Person.self]])
///
/// The default configuration, named nil, holds every class. Relationships stay within a configuration. The root of a hierarchy stands for all of its
/// classes; naming others of them too is harmless.
public struct Schema: Sendable {
    public let name: String
    let models: [any Model.Type]
    let configurations: [String: [any Model.Type]]
    /// What the model, or parts of it, must be; see ``VersionLock``.
    private(set) var locks: [Lock] = []

    struct Lock: Sendable {
        let lock: VersionLock
        let name: String
        let models: [any Model.Type]
    }

    /// - Parameter versionLock: what the model must be; see ``VersionLock``. Without one it may be anything.
    public init(_ name: String, _ models: any Model.Type..., versionLock: VersionLock? = nil) {
        self.init(name, models, versionLock: versionLock)
    }

    public init(
        _ name: String, _ models: [any Model.Type], configurations: [String: [any Model.Type]] = [:], versionLock: VersionLock? = nil
    ) {
        self.name = name
        self.models = models
        self.configurations = configurations
        if let versionLock { locks = [Lock(lock: versionLock, name: name, models: models)] }
    }

    /// One schema of several parts, each with its lock.
    /// - Parameters:
    ///   - name: the whole's name.
    ///   - versionLock: of the whole.
    public init(_ name: String, merging parts: [Schema], versionLock: VersionLock? = nil) {
        var models: [any Model.Type] = []
        for model in parts.flatMap(\.models) where !models.contains(where: { $0 == model }) { models.append(model) }
        var configurations: [String: [any Model.Type]] = [:]
        for part in parts { configurations.merge(part.configurations) { first, second in first + second } }
        self.init(name, models, configurations: configurations, versionLock: versionLock)
        locks = parts.flatMap(\.locks) + locks
    }

    /// The names of the configurations, sorted.
    public var configurationNames: [String] { configurations.keys.sorted() }

    /// The classes of a configuration: of a hierarchy the root alone, which stands for all of it.
    func models(of configuration: String?) throws -> [any Model.Type] {
        guard let configuration else { return roots(of: models) }
        if let found = configurations[configuration] { return roots(of: found) }
        let known = configurationNames.map { "\"\($0)\"" }.joined(separator: ", ")
        throw StoreError(
            .storeNotFound,
            "The schema \"\(name)\" has no configuration \"\(configuration)\"; it has \(known.isEmpty ? "only the default one, nil" : known)."
        )
    }

    func roots(of models: [any Model.Type]) -> [any Model.Type] {
        var found: [any Model.Type] = []
        for model in models {
            guard let root = model._$hierarchy?.members[0].type else {
                found.append(model)
                continue
            }
            if !found.contains(where: { $0 == root }) { found.append(root) }
        }
        return found
    }

    func description(of models: [any Model.Type]) -> SchemaDescription {
        // Relationships may lead to any class of a hierarchy, and a store knows the hierarchy.
        var stored: [String: String] = [:]
        for model in models {
            guard let hierarchy = model._$hierarchy else { continue }
            for member in hierarchy.members { stored[member.name] = hierarchy.entity.name }
        }
        let entities = models.map { $0.storedEntity }
        return SchemaDescription(name: name, entities: stored.isEmpty ? entities : entities.map { $0.leading(to: stored) })
    }

    /// - Throws: `invalidSchema` for a hierarchy that does not hold together.
    private func checkHierarchies() throws {
        for model in models + configurations.values.joined() {
            if let problem = model._$hierarchy?.problem(of: model) { throw problem }
        }
        var owners: [String: any Model.Type] = [:]
        for model in roots(of: models) {
            for type in model._$hierarchy?.members.map({ $0.type }) ?? [model] {
                let name = type._$entityName
                guard let other = owners.updateValue(type, forKey: name.lowercased()), other != type else { continue }
                throw StoreError(
                    .invalidSchema,
                    "\(other) and \(type) have one name, \(name), or names that differ in case only; give one another with `entity:`.",
                    entity: name)
            }
        }
    }

    /// Each configuration made ready for use, the default one, named nil, first.
    /// - Throws: `invalidSchema`, for a model that is not what its version lock says too.
    func resolved() throws -> [(configuration: String?, schema: ResolvedSchema)] {
        try checkHierarchies()
        try checkLocks()
        let whole = try ResolvedSchema(description(of: models(of: nil)))
        return try [(nil, whole)] + configurationNames.map { ($0, try ResolvedSchema(description(of: try models(of: $0)))) }
    }

    /// A fingerprint of the whole model; see ``SchemaDescription/versionHash``.
    public var versionHash: String { description(of: roots(of: models)).versionHash }
}

extension EntityDescription {
    /// The same with relationships that lead to the entities that a store knows.
    fileprivate func leading(to stored: [String: String]) -> EntityDescription {
        var copy = self
        copy.properties = properties.map { property in
            guard case .relationship(var relationship) = property, let name = stored[relationship.destination] else { return property }
            relationship.destination = name
            return .relationship(relationship)
        }
        return copy
    }
}
