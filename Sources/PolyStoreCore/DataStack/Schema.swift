import PolyStoreBackend

/// A version of a model: the classes, and which of them belong to which configuration.
///
///     let schema = Schema("Company 1", Person.self, Department.self)
///     let split = Schema("Company 1", [Person.self, Visit.self], configurations: ["Cache": [Visit.self], "Main": [Person.self]])
///
/// The default configuration, named nil, holds every class. Relationships stay within a configuration.
public struct Schema: Sendable {
    public let name: String
    let models: [any Model.Type]
    let configurations: [String: [any Model.Type]]

    public init(_ name: String, _ models: any Model.Type...) { self.init(name, models) }

    public init(_ name: String, _ models: [any Model.Type], configurations: [String: [any Model.Type]] = [:]) {
        self.name = name
        self.models = models
        self.configurations = configurations
    }

    /// One schema of several parts.
    /// - Parameter name: the whole's name.
    public init(_ name: String, merging parts: [Schema]) {
        var models: [any Model.Type] = []
        for model in parts.flatMap(\.models) where !models.contains(where: { $0 == model }) { models.append(model) }
        var configurations: [String: [any Model.Type]] = [:]
        for part in parts { configurations.merge(part.configurations) { first, second in first + second } }
        self.init(name, models, configurations: configurations)
    }

    /// The names of the configurations, sorted.
    public var configurationNames: [String] { configurations.keys.sorted() }

    /// The classes of a configuration.
    func models(of configuration: String?) throws -> [any Model.Type] {
        guard let configuration else { return models }
        if let found = configurations[configuration] { return found }
        let known = configurationNames.map { "\"\($0)\"" }.joined(separator: ", ")
        throw StoreError(
            .storeNotFound,
            "The schema \"\(name)\" has no configuration \"\(configuration)\"; it has \(known.isEmpty ? "only the default one, nil" : known)."
        )
    }

    func description(of models: [any Model.Type]) -> SchemaDescription {
        SchemaDescription(name: name, entities: models.map { $0._$entity })
    }

    /// Each configuration made ready for use, the default one, named nil, first.
    /// - Throws: `invalidSchema`.
    func resolved() throws -> [(configuration: String?, schema: ResolvedSchema)] {
        let whole = try ResolvedSchema(description(of: models))
        return try [(nil, whole)] + configurationNames.map { ($0, try ResolvedSchema(description(of: try models(of: $0)))) }
    }

    /// A fingerprint of the whole model; see ``SchemaDescription/versionHash``.
    public var versionHash: String { description(of: models).versionHash }
}
