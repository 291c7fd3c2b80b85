/// A storage engine that is selected by name. Backends provide one in addition to their factory: `StoreEngine.sqlite`.
public struct StoreEngine: Sendable {
    /// The name in URLs: lowercase letters, digits and hyphens.
    public let name: String
    /// The names of the options that the engine supports in addition to the common ones.
    public let options: Set<String>
    /// A Boolean value that indicates whether URLs may name a server; see ``StoreURL/server``.
    public let acceptsServers: Bool
    private let make: @Sendable (StoreURL) throws -> StoreConfiguration

    /// Creates an engine.
    /// - Parameters:
    ///   - name: The name of the engine, which is the scheme of its URLs.
    ///   - options: The names of the options that a URL may contain.
    ///   - acceptsServers: Whether URLs may name a server. Otherwise they are refused with `misuse`.
    ///   - make: Returns the configuration for a URL whose options are all supported. The errors of opening the store, and the messages that it logs, then contain neither
    ///     the password nor the values of secret options; see ``StoreURL/description``. Other errors of the backend must not contain them.
    public init(
        name: String, options: Set<String> = [], acceptsServers: Bool = false,
        make: @escaping @Sendable (StoreURL) throws -> StoreConfiguration
    ) {
        self.name = name
        self.options = options
        self.acceptsServers = acceptsServers
        self.make = make
    }

    /// The options of every engine: ``StoreConfiguration/isReadOnly``, ``StoreConfiguration/durability``,
    /// ``StoreConfiguration/resetsOnModelMismatch``.
    public static let commonOptions: Set<String> = ["readOnly", "durability", "resetsOnModelMismatch"]

    func configuration(_ url: StoreURL) throws -> StoreConfiguration {
        guard acceptsServers || url.server == nil else {
            throw StoreError(
                .misuse, "\"\(url)\" names a host, and stores of \(name) are local. Write \(name):PATH or \(name):///PATH.",
                location: url.description)
        }
        let known = options.union(Self.commonOptions)
        if let unknown = url.options.keys.sorted().first(where: { !known.contains($0) }) {
            throw StoreError(
                .misuse, "\(name) has no option \(unknown), as in \"\(url)\"; there are \(known.sorted().joined(separator: ", ")).",
                location: url.description)
        }
        var configuration: StoreConfiguration
        do { configuration = try make(url).hiding(url.secrets) } catch let error as StoreError { throw error.redacted(url.secrets) }
        if let isReadOnly = try url.flag("readOnly") { configuration.isReadOnly = isReadOnly }
        if let resets = try url.flag("resetsOnModelMismatch") { configuration.resetsOnModelMismatch = resets }
        if let name = url.options["durability"] {
            guard let durability = Durability(rawValue: name) else {
                throw StoreError(.misuse, "durability=\(name) in \"\(url)\": full or relaxed is expected.", location: url.description)
            }
            configuration.durability = durability
        }
        return configuration
    }
}

/// The engines that a program supports, by name.
///
///     let engines = StoreEngines([.sqlite, .lmdb])
///     try stack.addStore(url: "lmdb:company.lmdb", engines: engines)
///
/// A program that opens URLs in many places can register its engines once at launch and then omit them:
///
///     StoreEngines.register([.sqlite, .lmdb])
///     try stack.addStore(url: "lmdb:company.lmdb")
public struct StoreEngines: Sendable {
    private var byName: [String: StoreEngine] = [:]

    /// Creates a set of engines. If several have the same name, the last one is used.
    public init(_ engines: [StoreEngine]) { for engine in engines { byName[engine.name] = engine } }

    /// The names of the engines, sorted.
    public var names: [String] { byName.keys.sorted() }

    /// Returns the configuration for a store URL.
    /// - Throws: `misuse` for an invalid URL or an option that the engine does not support; `unsupported` for an engine that is not in the set, with the names
    ///   of those that are.
    public func configuration(_ url: String) throws -> StoreConfiguration {
        let url = try StoreURL(url)
        guard let engine = byName[url.engine] else {
            let known = names.isEmpty ? "none is registered" : "there are \(names.joined(separator: ", "))"
            throw StoreError(
                .unsupported,
                "There is no engine \(url.engine) for \"\(url)\"; \(known). Import its backend and add it to the engines.",
                location: url.description)
        }
        return try engine.configuration(url)
    }

    /// The engines that are registered for the process.
    public static var registered: StoreEngines { registry.withLock { $0 } }

    /// Registers engines for the process. May be called from any thread.
    public static func register(_ engines: [StoreEngine]) {
        registry.withLock { known in for engine in engines { known.byName[engine.name] = engine } }
    }

    private static let registry = Protected(StoreEngines([]))
}
