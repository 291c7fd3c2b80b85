import PolyStoreBackend
import PolyStoreKernel

extension Schema {
    /// The version as a value without classes. Print it and keep the text as source code for a version whose classes have changed since.
    public var locked: LockedSchema {
        let whole = description(of: roots(of: models))
        var parts: [String: [String]] = [:]
        for name in configurationNames {
            parts[name] = (try? description(ofConfiguration: name))?.entities.map(\.name)
        }
        return LockedSchema(name, entities: whole.entities.map(\.withoutComputedValues), configurations: parts)
    }
}

extension EntityDescription {
    /// The entity without the values of default expressions, which differ each time.
    package var withoutComputedValues: EntityDescription {
        var copy = self
        copy.properties = properties.map { property in
            guard case .attribute(var attribute) = property, attribute.defaultExpression != nil else { return property }
            attribute.defaultValue = nil
            return .attribute(attribute)
        }
        return copy
    }
}

/// The known versions of a schema, and the migrations of stores from earlier versions to the current one.
///
///     let history = SchemaHistory(
///         company1, company2, Schema("Company 3", Person.self, Department.self),
///         migrationChain: ["Company 1", "Company 2", "Company 3"],
///         mappings: [SchemaMapping(from: "Company 2", to: "Company 3", [.update("Person") { old, new in new["name"] = old["title"] }])])
///     let stack = try DataStack(history)
///     try await stack.addStore(.sqlite(file: "company.sqlite"), migrating: .chain)
///
/// Every store contains a description of its own schema, so a version must be listed only if a migration passes through it, or if a mapping leads to it.
public struct SchemaHistory: KnownVersions {
    /// The versions, in the order in which they were given.
    public let versions: [any SchemaVersion]
    /// The order of the versions.
    public let migrationChain: MigrationChain
    /// The parts of migrations that cannot be inferred from the differences of two versions.
    public let mappings: [SchemaMapping]

    /// Creates a history.
    ///
    /// - Parameters:
    ///   - versions: The current version, a ``Schema`` with classes, and earlier ones. The current version is the last one of the migration chain;
    ///     without a chain it is the last of the list.
    ///   - migrationChain: The order of the versions.
    ///   - mappings: At most one mapping for each pair of versions.
    public init(_ versions: any SchemaVersion..., migrationChain: MigrationChain = nil, mappings: [SchemaMapping] = []) {
        self.init(versions, migrationChain: migrationChain, mappings: mappings)
    }

    /// Creates a history from a list of versions.
    public init(_ versions: [any SchemaVersion], migrationChain: MigrationChain = nil, mappings: [SchemaMapping] = []) {
        self.versions = versions
        self.migrationChain = migrationChain
        self.mappings = mappings
    }

    /// Returns the version with a name; `nil` if there is none.
    public func version(named name: String) -> (any SchemaVersion)? { versions.first { $0.name == name } }

    /// Returns the version that a stack of this history uses.
    ///
    /// - Throws: `invalidSchema` if the chain, the names of the versions or the mappings are inconsistent, or if the current version has no classes.
    func current() throws -> Schema {
        try migrationChain.check()
        var names: Set<String> = []
        for version in versions where !names.insert(version.name).inserted {
            throw invalid("two versions have the name \"\(version.name)\"; give each version a name of its own")
        }
        var pairs: Set<[String]> = []
        for mapping in mappings where !pairs.insert([mapping.source, mapping.destination]).inserted {
            throw invalid("two mappings lead from \"\(mapping.source)\" to \"\(mapping.destination)\"; merge them")
        }
        guard let name = migrationChain.leafVersion ?? versions.last?.name else { throw invalid("it has no version") }
        guard let version = version(named: name) else {
            throw invalid("the migration chain ends in \"\(name)\", which is not among the versions; add its schema")
        }
        guard let schema = version as? Schema else {
            throw invalid("the current version \"\(name)\" has no classes; use a Schema with the classes of the application")
        }
        return schema
    }

    /// Returns the versions of a configuration with those that each follows, each after them; the current version is the last one. The order is that of the migration
    /// chain if there is one, otherwise that of the list.
    package func ordered(configuration: String?) throws -> [StoreVersions.Placed] {
        var schemas: [String: SchemaDescription] = [:]
        for version in versions {
            do { schemas[version.name] = try version.description(ofConfiguration: configuration) } catch let error as StoreError
                where error.code == .storeNotFound
            {
                // The configuration was added after that version.
            }
        }
        let names = versions.map(\.name)
        var previous: [String: [String]] = [:]
        if migrationChain.isEmpty {
            for (name, follower) in zip(names, names.dropFirst()) { previous[follower] = [name] }
        } else {
            for name in migrationChain.inOrder {
                if let follower = migrationChain.version(after: name) { previous[follower, default: []].append(name) }
            }
        }
        return (migrationChain.isEmpty ? names : migrationChain.inOrder).compactMap { name in
            schemas[name].map { StoreVersions.Placed(schema: $0, previous: (previous[name] ?? []).compactMap { schemas[$0] }) }
        }
    }

    package func changes(
        from source: ResolvedSchema, named sourceName: String, to target: ResolvedSchema, named targetName: String
    ) -> [String]? {
        let plan = try? MigrationPlanner(source, target, nil).plan(from: sourceName, to: targetName, losesLinks: false)
        return plan.map { $0.changes + $0.problems.map(\.message) }
    }

    private func invalid(_ reason: String) -> StoreError {
        StoreError(.invalidSchema, "The schema history cannot be used: \(reason).")
    }
}
