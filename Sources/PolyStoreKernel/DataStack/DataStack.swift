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
    @usableFromInline package let core: StackCore
    private let parts = Protected<[ObjectIdentifier: any StackPart]>([:])
    @MainActor private var viewContext: ViewContext?

    /// Creates a stack of a schema.
    /// - Throws: `invalidSchema` with the invalid entity and property, for any configuration.
    public convenience init(_ schema: Schema, logger: any StoreLogger = StandardErrorLogger()) throws {
        try self.init(schema, versions: OnlyVersion(schema: schema), logger: logger)
    }

    /// Creates a stack of classes with an unnamed schema: `try DataStack(Person.self, Department.self)`.
    ///
    /// Name the schema when its stores have to be migrated; see ``SchemaHistory``. The name is not stored, so existing stores remain compatible.
    /// - Throws: `invalidSchema` with the invalid entity and property.
    public convenience init(_ model: any Model.Type, _ others: any Model.Type..., logger: any StoreLogger = StandardErrorLogger()) throws {
        try self.init(Schema("Model", [model] + others), logger: logger)
    }

    package init(_ schema: Schema, versions: any KnownVersions, logger: any StoreLogger) throws {
        core = StackCore(schema: schema, versions: versions, resolved: try schema.resolved(versions), logger: logger)
        try core.checkSuperclasses()
    }

    deinit {
        guard core.process.isCurrent else { return }
        core.sequenceEnds.finish()
        for part in parts.withLock({ Array($0.values) }) { part.finish() }
    }

    /// Returns the part of the stack that another module adds, which is created at its first use.
    package func part<P: StackPart>(_ type: P.Type) -> P {
        parts.withLock { parts in
            if let part = parts[ObjectIdentifier(type)] as? P { return part }
            let part = P(core: core)
            parts[ObjectIdentifier(type)] = part
            return part
        }
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

/// A part of a stack that another module adds.
package protocol StackPart: AnyObject, Sendable {
    init(core: StackCore)
    /// Called when the stack is released.
    func finish()
}
