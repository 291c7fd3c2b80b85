import PolyStoreBackend

/// A model with its stores; the entry point of the framework.
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
/// It is Sendable. A process can use any number of stacks.
public final class DataStack: Sendable {
    let core: StackCore
    /// The observations outside of the main actor.
    let observation: BackgroundObservation
    @MainActor private var viewContext: ViewContext?

    /// Creates a stack of a schema.
    /// - Throws: `invalidSchema` with the invalid entity and property, for any configuration.
    public convenience init(_ schema: Schema, logger: any StoreLogger = StandardErrorLogger()) throws {
        try self.init(schema, history: SchemaHistory(schema), logger: logger)
    }

    /// Creates a stack of classes with an unnamed schema: `try DataStack(Person.self, Department.self)`.
    ///
    /// Name the schema when its stores have to be migrated; see ``SchemaHistory``. The name is not stored, so existing stores remain compatible.
    /// - Throws: `invalidSchema` with the invalid entity and property.
    public convenience init(_ model: any Model.Type, _ others: any Model.Type..., logger: any StoreLogger = StandardErrorLogger()) throws {
        try self.init(Schema("Model", [model] + others), logger: logger)
    }

    init(_ schema: Schema, history: SchemaHistory, logger: any StoreLogger) throws {
        core = StackCore(schema: schema, history: history, resolved: try schema.resolved(history.versions), logger: logger)
        try core.checkSuperclasses()
        observation = BackgroundObservation(core: core)
    }

    deinit {
        guard core.process.isCurrent else { return }
        core.sequenceEnds.finish()
        observation.finish()
    }

    /// The schema of the stack.
    public var schema: Schema { core.schema }

    /// The logger that receives messages of the stack; see `StoreLogger`.
    public var logger: any StoreLogger {
        get { core.logger }
        set { core.logger = newValue }
    }

    /// The read-only context of the main actor, which is updated after every commit.
    @MainActor public var view: ViewContext {
        if let viewContext {
            viewContext.update(core.table.withLock { $0 })
            return viewContext
        }
        let context = newView()
        viewContext = context
        return context
    }

    // MARK: Ids

    /// Returns the id with a URI, or nil if the URI does not belong to a store of this stack and an entity of the class.
    public func objectID<T: Model>(_ uri: String, for type: T.Type) -> ObjectID<T>? {
        let entries = core.table.withLock { $0.byType[ObjectIdentifier(type)] ?? [] }
        for entry in entries {
            let prefix = ObjectID<T>(entry: entry, rowID: 0).uri.dropLast()
            guard uri.hasPrefix(prefix), let key = Int64(uri.dropFirst(prefix.count)), key > 0 else { continue }
            return ObjectID(entry: entry, rowID: key)
        }
        return nil
    }
}
