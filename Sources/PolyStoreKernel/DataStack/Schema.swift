import PolyStoreBackend

/// A version of a model: its classes and their configurations.
///
///     let schema = Schema("Company 1", Person.self, Department.self)
///     let split = Schema("Company 1", [Person.self, Visit.self], configurations: ["Cache": [Visit.self], "Main": [Person.self]])
///
/// The default configuration, named nil, contains every class. Relationships cannot cross configurations. The root of a class hierarchy includes all
/// of its subclasses; listing subclasses as well has no effect.
public struct Schema: Sendable {
    /// The name of the schema version.
    public let name: String
    package let models: [any Model.Type]
    let configurations: [String: [any Model.Type]]
    /// The locks of the model or of parts of it; see ``VersionLock``.
    private(set) var locks: [Lock] = []

    struct Lock: Sendable {
        let lock: VersionLock
        let name: String
        let models: [any Model.Type]
    }

    /// Creates a schema with the default configuration only.
    /// - Parameters:
    ///   - name: The name of the schema version.
    ///   - models: The classes of the schema, in any order.
    ///   - versionLock: The expected fingerprints of the model; see ``VersionLock``. nil disables the check.
    public init(_ name: String, _ models: any Model.Type..., versionLock: VersionLock? = nil) {
        self.init(name, models, versionLock: versionLock)
    }

    /// Creates a schema with named configurations.
    public init(
        _ name: String, _ models: [any Model.Type], configurations: [String: [any Model.Type]] = [:], versionLock: VersionLock? = nil
    ) {
        self.name = name
        self.models = models
        self.configurations = configurations
        if let versionLock { locks = [Lock(lock: versionLock, name: name, models: models)] }
    }

    /// Creates a schema from several parts, each with its own lock.
    /// - Parameters:
    ///   - name: The name of the merged schema.
    ///   - parts: The schemas to merge.
    ///   - versionLock: The lock of the merged schema.
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

    /// Returns the classes of a configuration. A class hierarchy is represented by its root.
    /// - Throws: `storeNotFound` if the schema does not contain the configuration.
    func models(of configuration: String?) throws -> [any Model.Type] {
        guard let configuration else { return roots(of: models) }
        if let found = configurations[configuration] { return roots(of: found) }
        let known = configurationNames.map { "\"\($0)\"" }.joined(separator: ", ")
        throw StoreError(
            .storeNotFound,
            "The schema \"\(name)\" has no configuration \"\(configuration)\"; it has \(known.isEmpty ? "only the default one, nil" : known)."
        )
    }

    package func roots(of models: [any Model.Type]) -> [any Model.Type] {
        var found: [any Model.Type] = []
        for model in models {
            guard let root = model._$hierarchy?.types[0] else {
                found.append(model)
                continue
            }
            if !found.contains(where: { $0 == root }) { found.append(root) }
        }
        return found
    }

    package func description(of models: [any Model.Type]) -> SchemaDescription {
        // The destination of a relationship may be any class of a hierarchy, but the store contains one entity for the whole hierarchy.
        var stored: [String: String] = [:]
        for model in models {
            guard let hierarchy = model._$hierarchy else { continue }
            for member in hierarchy.classes { stored[member.name] = hierarchy.entity.name }
        }
        let entities = models.map { $0.storedEntity }
        return SchemaDescription(name: name, entities: stored.isEmpty ? entities : entities.map { $0.leading(to: stored) })
    }

    /// Validates the class hierarchies and the uniqueness of entity names.
    /// - Throws: `invalidSchema` for an inconsistent hierarchy or ambiguous names.
    private func checkHierarchies() throws {
        for model in models + configurations.values.joined() {
            if let problem = model._$hierarchy?.problem(of: model) { throw problem }
        }
        var owners: [String: any Model.Type] = [:]
        for model in roots(of: models) {
            for type in model._$hierarchy?.types ?? [model] {
                let name = type._$entityName
                guard let other = owners.updateValue(type, forKey: name.lowercased()), other != type else { continue }
                throw StoreError(
                    .invalidSchema,
                    "\(other) and \(type) have one name, \(name), or names that differ in case only; give one another with `entity:`.",
                    entity: name)
            }
        }
    }

    /// Returns all configurations with their resolved entities, starting with the default one, named nil.
    /// - Throws: `invalidSchema` for an invalid model, or one that differs from its version lock.
    func resolved(_ versions: (any KnownVersions)? = nil) throws -> [(configuration: String?, schema: ResolvedSchema)] {
        try checkHierarchies()
        try checkLocks(versions)
        let whole = try ResolvedSchema(description(of: models(of: nil)))
        try whole.description.checkOriginalNames()
        return try [(nil, whole)] + configurationNames.map { ($0, try ResolvedSchema(description(of: try models(of: $0)))) }
    }

    /// The fingerprint of the whole model; see `SchemaDescription.versionHash`.
    public var versionHash: String { description(of: roots(of: models)).versionHash }
}

extension EntityDescription {
    /// Returns a copy whose relationships refer to stored entities.
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

extension SchemaDescription {
    /// Checks that no two entities and no two properties of an entity declare one original name.
    /// - Throws: `invalidSchema`.
    func checkOriginalNames() throws {
        func conflict(_ parts: [(name: String, original: String?)]) -> (first: String, second: String, original: String)? {
            var claims: [String: String] = [:]
            for part in parts {
                guard let original = part.original, original != part.name else { continue }
                if let first = claims[original] { return (first, part.name, original) }
                claims[original] = part.name
            }
            return nil
        }
        let names = entities.flatMap { [($0.name, $0.originalName)] + ($0.hierarchy?.subentities ?? []).map { ($0.name, $0.originalName) } }
        if let (first, second, original) = conflict(names) {
            throw StoreError(
                .invalidSchema,
                "The entities \(first) and \(second) both have the original name \(original), whose objects can become those of one entity only. Remove one of the declarations.",
                entity: second)
        }
        for entity in entities {
            guard let (first, second, original) = conflict(entity.properties.map { ($0.name, $0.originalName) }) else { continue }
            throw StoreError(
                .invalidSchema,
                "\(entity.name).\(first) and \(entity.name).\(second) both have the original name \(original), whose values can become those of one property only. Remove one of the "
                    + "declarations.", entity: entity.name, attribute: second)
        }
    }
}
