import PolyStoreBackend
import PolyStoreKernel

extension Context {
    /// Returns the entity of a query.
    /// - Throws: `storeNotFound` if no open store has it, `misuse` if its objects have a class.
    package func entry(named name: String) throws -> StoreEntity { try table.entry(named: name) }

    /// Calls a function with the class of an entity.
    private func open<R>(_ query: EntityQuery, _ body: any EntityWork<R>) throws -> R {
        let entry = try entry(named: query.entity)
        func run<T: Model>(_ type: T.Type) throws -> R { try body.run(query.chain(type, entry), self) }
        return try run(entry.type)
    }

    /// Returns all objects of a query.
    /// - Throws: `storeNotFound` if no open store has the entity, `invalidPredicate` with the invalid part of a condition or an order, and the errors of the store.
    public func fetchAll(_ query: EntityQuery) throws -> [DynamicObject] { try open(query, FetchAll()) }

    /// Returns the first object of a query; nil if there is none.
    public func fetchOne(_ query: EntityQuery) throws -> DynamicObject? {
        try fetchAll(query.limit(min(1, query.options.limit ?? 1))).first
    }

    /// Returns the number of objects of a query.
    public func fetchCount(_ query: EntityQuery) throws -> Int { try open(query, FetchCount()) }

    /// Returns the ids of the objects of a query, without reading the objects.
    public func fetchObjectIDs(_ query: EntityQuery) throws -> [AnyObjectID] { try open(query, FetchIDs()) }

    /// Returns values of each object, or of groups: `try context.queryAttributes(query, Select("department.title", .count(as: "people")), groupBy: ["department.title"])`.
    /// - Parameters:
    ///   - select: The values: names, paths and functions of them.
    ///   - groups: The names or paths whose values define the groups.
    ///   - having: A condition on the groups in the syntax of format strings.
    public func queryAttributes(
        _ query: EntityQuery, _ select: Select<QueryRow>, groupBy groups: [String] = [], having: String? = nil
    ) throws -> [QueryRow] { try open(query, Attributes(select: select, groups: groups, having: having)) }

    /// Returns how the stores execute a query; see ``Context/explain(_:)-(S)``.
    public func explain(_ query: EntityQuery) throws -> String { try open(query, Explanation()) }

    /// Returns how the stores execute a query, as values.
    public func plans(_ query: EntityQuery) throws -> [QueryPlan] { try open(query, Plans()) }

    /// Returns the object with an id; nil if it does not exist.
    /// - Throws: `storeNotFound` if the id belongs to a store of another stack, `misuse` if the object has a class.
    public func fetchExisting(_ id: AnyObjectID) throws -> DynamicObject? {
        guard id.entry.type is any DynamicModel.Type else {
            throw StoreError(.misuse, "\(id) has the class \(id.entry.type): fetch it by an ObjectID of it.", entity: id.entityName)
        }
        func fetch<T: Model>(_ type: T.Type) throws -> DynamicObject? {
            try fetchExisting(ObjectID<T>(entry: id.entry, rowID: id.rowID)) as? DynamicObject
        }
        return try fetch(id.entry.type)
    }
}

/// An operation on the fetch of an entity whose class is known only at run time.
private protocol EntityWork<Result> {
    associatedtype Result
    func run<T: Model>(_ chain: FetchChain<T>, _ context: Context) throws -> Result
}

private struct FetchAll: EntityWork {
    func run<T: Model>(_ chain: FetchChain<T>, _ context: Context) throws -> [DynamicObject] {
        try context.fetchAll(chain).compactMap { $0 as? DynamicObject }
    }
}

private struct FetchCount: EntityWork {
    func run<T: Model>(_ chain: FetchChain<T>, _ context: Context) throws -> Int { try context.fetchCount(chain) }
}

private struct FetchIDs: EntityWork {
    func run<T: Model>(_ chain: FetchChain<T>, _ context: Context) throws -> [AnyObjectID] {
        try context.fetchObjectIDs(chain).map { AnyObjectID(entry: $0.entry, rowID: $0.rowID) }
    }
}

private struct Attributes: EntityWork {
    let select: Select<QueryRow>
    let groups: [String]
    let having: String?

    func run<T: Model>(_ chain: FetchChain<T>, _ context: Context) throws -> [QueryRow] {
        var clauses: [any QueryClause<T>] = []
        if !groups.isEmpty { clauses.append(GroupBy<T>(groups)) }
        if let having { clauses.append(Having<T>(having)) }
        return try context.queryAttributes(chain, select, clauses)
    }
}

private struct Explanation: EntityWork {
    func run<T: Model>(_ chain: FetchChain<T>, _ context: Context) throws -> String { try context.explain(chain) }
}

private struct Plans: EntityWork {
    func run<T: Model>(_ chain: FetchChain<T>, _ context: Context) throws -> [QueryPlan] { try context.plans(chain) }
}
