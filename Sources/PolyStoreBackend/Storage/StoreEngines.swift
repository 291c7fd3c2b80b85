/// A kind of store that can be chosen by name. Backends offer one beside their factory: `StoreEngine.sqlite`.
public struct StoreEngine: Sendable {
    /// As in URLs: small letters, digits and hyphens.
    public let name: String
    /// The options that it understands besides the common ones.
    public let options: Set<String>
    private let make: @Sendable (StoreURL) throws -> StoreConfiguration

    /// - Parameter make: makes a configuration of a URL whose options are all known.
    public init(name: String, options: Set<String> = [], make: @escaping @Sendable (StoreURL) throws -> StoreConfiguration) {
        self.name = name
        self.options = options
        self.make = make
    }

    /// Options of every engine: ``StoreConfiguration/isReadOnly``, ``StoreConfiguration/durability``,
    /// ``StoreConfiguration/resetsOnModelMismatch``.
    public static let commonOptions: Set<String> = ["readOnly", "durability", "resetsOnModelMismatch"]

    func configuration(_ url: StoreURL) throws -> StoreConfiguration {
        let known = options.union(Self.commonOptions)
        if let unknown = url.options.keys.sorted().first(where: { !known.contains($0) }) {
            throw StoreError(
                .misuse, "\(name) has no option \(unknown), as in \"\(url.text)\"; there are \(known.sorted().joined(separator: ", ")).",
                url: url.text)
        }
        var configuration = try make(url)
        if let isReadOnly = try url.flag("readOnly") { configuration.isReadOnly = isReadOnly }
        if let resets = try url.flag("resetsOnModelMismatch") { configuration.resetsOnModelMismatch = resets }
        if let name = url.options["durability"] {
            guard let durability = Durability(rawValue: name) else {
                throw StoreError(.misuse, "durability=\(name) in \"\(url.text)\": full or relaxed is expected.", url: url.text)
            }
            configuration.durability = durability
        }
        return configuration
    }
}

/// The engines that a program has, to choose among by name.
///
///     let engines = StoreEngines([.sqlite, .lmdb])
///     try stack.addStore(url: "lmdb:company.lmdb", engines: engines)
///
/// A program that reads the same URL in many places registers its engines once, at its start, and leaves them out afterwards:
///
///     StoreEngines.register([.sqlite, .lmdb])
///     try stack.addStore(url: "lmdb:company.lmdb")
public struct StoreEngines: Sendable {
    private var byName: [String: StoreEngine] = [:]

    /// Of two with one name the last counts.
    public init(_ engines: [StoreEngine]) { for engine in engines { byName[engine.name] = engine } }

    public var names: [String] { byName.keys.sorted() }

    /// The configuration of a store URL.
    /// - Throws: `misuse` for text that is no URL or an option that the engine does not have; `unsupported` for an engine that the program does not
    ///   have, with those it has.
    public func configuration(_ url: String) throws -> StoreConfiguration {
        let url = try StoreURL(url)
        guard let engine = byName[url.engine] else {
            let known = names.isEmpty ? "none is registered" : "there are \(names.joined(separator: ", "))"
            throw StoreError(
                .unsupported,
                "There is no engine \(url.engine) for \"\(url.text)\"; \(known). Import its backend and add it to the engines.",
                url: url.text)
        }
        return try engine.configuration(url)
    }

    /// Those that were registered for the whole process.
    public static var registered: StoreEngines { registry.withLock { $0 } }

    /// Adds engines for the whole process. From any thread.
    public static func register(_ engines: [StoreEngine]) {
        registry.withLock { known in for engine in engines { known.byName[engine.name] = engine } }
    }

    private static let registry = Protected(StoreEngines([]))
}
