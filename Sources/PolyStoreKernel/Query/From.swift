import PolyStoreBackend

/// The entity to read, and the stores to read from.
///
///     From<Person>()                    // every store that holds the entity
///     From<Person>("Cache")             // the stores of one configuration
///     From<Person>(nil)                 // the stores of the default configuration
///     From<Person>("Cache", nil)        // several
///
/// Each store is read once, even if its configuration is listed repeatedly. Configurations without the entity are ignored; if none has it, the fetch throws.
public struct From<T: Model>: Sendable, Hashable {
    /// The names of the configurations; nil for all stores.
    let configurations: [String?]?

    /// Creates a source that reads every store with the entity.
    public init() { configurations = nil }
    /// Creates a source that reads every store with the entity. The form of CoreStore, `From(Person.self)`; the same as `From<Person>()`.
    public init(_ type: T.Type) { configurations = nil }
    /// Creates a source that reads the stores of configurations; `nil` is the default configuration.
    public init(_ configuration: String?, _ others: String?...) { self.init([configuration] + others) }
    /// Creates a source that reads the stores of configurations. The form of CoreStore; the same as `From<Person>("Cache")`.
    public init(_ type: T.Type, _ configuration: String?, _ others: String?...) { self.init([configuration] + others) }
    /// Creates a source that reads the stores of configurations.
    /// - Parameter configurations: The names of the configurations; `nil` is the default one. A fetch from an empty list throws `storeNotFound`.
    public init(_ configurations: [String?]) { self.configurations = configurations }
    /// Creates a source that reads the stores of configurations. The form of CoreStore; the same as `From<Person>(configurations)`.
    public init(_ type: T.Type, _ configurations: [String?]) { self.init(configurations) }
}

/// The entity to create, and the store to create it in.
///
///     Into<Person>()                    // the only store that holds the entity
///     Into<Person>("Cache")             // the store of a configuration
///     Into<Person>(nil)                 // the store of the default configuration
public struct Into<T: Model>: Sendable, Hashable {
    package let configuration: String??

    /// Creates a destination in the only store with the entity.
    public init() { configuration = .none }
    /// Creates a destination in the only store with the entity. The form of CoreStore, `Into(Person.self)`; the same as `Into<Person>()`.
    public init(_ type: T.Type) { configuration = .none }
    /// Creates a destination in the store of a configuration; `nil` is the default configuration.
    public init(_ configuration: String?) { self.configuration = .some(configuration) }
    /// Creates a destination in the store of a configuration. The form of CoreStore; the same as `Into<Person>("Cache")`.
    public init(_ type: T.Type, _ configuration: String?) { self.init(configuration) }
}
