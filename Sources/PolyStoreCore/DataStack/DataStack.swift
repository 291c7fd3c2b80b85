import Dispatch
import PolyStoreBackend

/// A model with its stores: where everything begins.
///
///     let stack = try DataStack(Schema("Company 1", Person.self, Department.self))
///     try stack.addStore(.sqlite(file: "company.sqlite"))
///     let id = try await stack.perform { transaction in
///         let jane = try transaction.create(Into<Person>())
///         jane.name = "Jane"
///         return jane.objectID
///     }
///     print(try stack.view.fetchAll(From<Person>(), Where(\.name == "Jane")))
///
/// Sendable; as many stacks as wanted.
public final class DataStack: Sendable {
    let core: StackCore
    /// Observes off the main actor.
    let observation: BackgroundObservation
    @MainActor private var viewContext: ViewContext?

    /// - Throws: `invalidSchema`, naming the entity and property that are wrong, in whichever configuration.
    public init(_ schema: Schema, logger: any StoreLogger = StandardErrorLogger()) throws {
        core = StackCore(schema: schema, resolved: try schema.resolved(), logger: logger)
        observation = BackgroundObservation(core: core)
    }

    deinit {
        guard core.process.isCurrent else { return }
        core.sequenceEnds.finish()
        observation.finish()
    }

    public var schema: Schema { core.schema }

    /// Takes what the stack has to say; see ``StoreLogger``.
    public var logger: any StoreLogger {
        get { core.logger }
        set { core.logger = newValue }
    }

    /// The main actor's read-only context, which follows every commit.
    @MainActor public var view: ViewContext {
        if let viewContext {
            viewContext.update(core.table.withLock { $0 })
            return viewContext
        }
        let context = newView()
        viewContext = context
        return context
    }

    // MARK: Stores

    /// The stores, in the order in which they were added.
    public var stores: [PersistentStore] { core.table.withLock { $0.stores } }

    /// Opens a store, or makes it, and waits for that. Never migrates.
    ///
    /// Adding a store a second time gives the one that is there.
    /// - Parameters:
    ///   - store: the engine and the place: `.sqlite(file: "company.sqlite")`, `.inMemory()`, …
    ///   - name: which of the schema's configurations it holds; nil is the default one, with every entity.
    ///   - history: what this stack records of its commits to the store; nil: nothing. See ``history(since:matching:limit:file:line:)``.
    /// - Throws: `storeNotFound` for a configuration that the schema does not have, `differentStoreAtURL` for a place that another
    ///   configuration of this stack uses, `migrationRequired` for a store of another model, `notAStore` for a foreign file,
    ///   `io`, `readOnly`, `corrupt`; `unsupported` for a history in a store that keeps no change log.
    @discardableResult
    public func addStore(
        _ store: StoreConfiguration, configuration name: String? = nil, history: HistoryOptions? = nil, file: StaticString = #fileID,
        line: UInt = #line
    ) throws -> PersistentStore {
        let site = CallSite("addStore", file: file, line: line)
        do { return try open(store, configuration: name, history: history, site) } catch {
            core.logger.writeFailure(error, site)
            throw error
        }
    }

    private func open(
        _ store: StoreConfiguration, configuration name: String?, history: HistoryOptions?, _ site: CallSite
    ) throws -> PersistentStore {
        let store = try openOnce(store, configuration: name, history: history, site)
        core.external.didAdd(store)
        return store
    }

    private func openOnce(
        _ store: StoreConfiguration, configuration name: String?, history: HistoryOptions?, _ site: CallSite
    ) throws -> PersistentStore {
        let (schema, models) = try core.configuration(name)
        return try core.table.withLock { table in
            if store.isShared, let same = table.stores.first(where: { $0.url == store.url }) {
                guard same.configurationName != name else { return same }
                func told(_ name: String?) -> String { name.map { "\"\($0)\"" } ?? "default" }
                throw StoreError(
                    .differentStoreAtURL,
                    "\(store.url) is open for the configuration \(told(same.configurationName)), so it cannot be that of \(told(name)) too.",
                    url: store.url)
            }
            let backend = try store.open(schema: schema, configurationName: name, logger: core.logger)
            guard history == nil || backend.capabilities.has(.changeLog) else { throw LogBounds.unsupported(url: store.url) }
            let added = PersistentStore(
                index: table.stores.count, firstSlot: Int32(table.entries.count), configurationName: name, configuration: store,
                backend: backend, schema: schema, history: history)
            table.stores.append(added)
            for (entity, model) in zip(schema.entities, models) {
                let entry = StoreEntity(store: added, entity: entity, type: model)
                table.entries.append(entry)
                for type in entry.types { table.byType[ObjectIdentifier(type), default: []].append(entry) }
            }
            core.logger.write(.info, site, "Opened \(store.url) with \(schema.entities.count) entities.")
            if table.stores.count > 1 { core.storesDidChange() }
            return added
        }
    }

    /// Opens a store that is named in one line of text, as in a configuration file: `sqlite:company.sqlite`, `lmdb:company.lmdb?durability=relaxed`.
    /// See ``StoreURL`` for how they are written.
    /// - Parameter engines: those to choose from; without, those that were given to ``StoreEngines/register(_:)``.
    /// - Throws: `misuse` for text that is no URL, `unsupported` for an engine that is not among them, and what
    ///   ``addStore(_:configuration:history:file:line:)`` throws.
    @discardableResult
    public func addStore(
        url: String, engines: StoreEngines = .registered, configuration name: String? = nil, history: HistoryOptions? = nil,
        file: StaticString = #fileID, line: UInt = #line
    ) throws -> PersistentStore {
        try addStore(engines.configuration(url), configuration: name, history: history, file: file, line: line)
    }

    /// The id that a URI names; nil if it names none of this stack's stores, or another entity.
    public func objectID<T: Model>(_ uri: String, for type: T.Type) -> ObjectID<T>? {
        let entries = core.table.withLock { $0.byType[ObjectIdentifier(type)] ?? [] }
        for entry in entries {
            let prefix = ObjectID<T>(entry: entry, key: 0).uri.dropLast()
            guard uri.hasPrefix(prefix), let key = Int64(uri.dropFirst(prefix.count)), key > 0 else { continue }
            return ObjectID(entry: entry, key: key)
        }
        return nil
    }
}
