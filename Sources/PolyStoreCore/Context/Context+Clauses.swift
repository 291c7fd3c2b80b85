import PolyStoreBackend

// The clause forms of every fetch: `fetchAll(From<Person>(), Where(…), OrderBy(…), Tweak {…})`, any of the clauses left out.
// Key paths in them need no root: the entity of `From` is that of each clause. Clauses are existentials, not generic parameters, as the type checker then knows
// the entity before it looks at the operators of a condition: its time is linear in their number, and was exponential.

extension Context {
    /// All objects that match, in order.
    public func fetchAll<T>(_ from: From<T>, _ first: any FetchClause<T>) throws -> [T] { try fetchAll(from.chain(first)) }
    public func fetchAll<T>(_ from: From<T>, _ first: any FetchClause<T>, _ second: any FetchClause<T>) throws -> [T] {
        try fetchAll(from.chain(first, second))
    }
    public func fetchAll<T>(
        _ from: From<T>, _ first: any FetchClause<T>, _ second: any FetchClause<T>, _ third: any FetchClause<T>
    ) throws -> [T] {
        try fetchAll(from.chain(first, second, third))
    }

    /// The first object that matches; nil if none does.
    public func fetchOne<T>(_ from: From<T>, _ first: any FetchClause<T>) throws -> T? { try fetchOne(from.chain(first)) }
    public func fetchOne<T>(_ from: From<T>, _ first: any FetchClause<T>, _ second: any FetchClause<T>) throws -> T? {
        try fetchOne(from.chain(first, second))
    }
    public func fetchOne<T>(
        _ from: From<T>, _ first: any FetchClause<T>, _ second: any FetchClause<T>, _ third: any FetchClause<T>
    ) throws -> T? {
        try fetchOne(from.chain(first, second, third))
    }

    /// How many objects match.
    public func fetchCount<T>(_ from: From<T>, _ first: any FetchClause<T>) throws -> Int { try fetchCount(from.chain(first)) }
    public func fetchCount<T>(_ from: From<T>, _ first: any FetchClause<T>, _ second: any FetchClause<T>) throws -> Int {
        try fetchCount(from.chain(first, second))
    }
    public func fetchCount<T>(
        _ from: From<T>, _ first: any FetchClause<T>, _ second: any FetchClause<T>, _ third: any FetchClause<T>
    ) throws -> Int {
        try fetchCount(from.chain(first, second, third))
    }

    /// The ids of all objects that match, in order.
    public func fetchObjectIDs<T>(_ from: From<T>, _ first: any FetchClause<T>) throws -> [ObjectID<T>] {
        try fetchObjectIDs(from.chain(first))
    }
    public func fetchObjectIDs<T>(_ from: From<T>, _ first: any FetchClause<T>, _ second: any FetchClause<T>) throws -> [ObjectID<T>] {
        try fetchObjectIDs(from.chain(first, second))
    }
    public func fetchObjectIDs<T>(
        _ from: From<T>, _ first: any FetchClause<T>, _ second: any FetchClause<T>, _ third: any FetchClause<T>
    ) throws -> [ObjectID<T>] {
        try fetchObjectIDs(from.chain(first, second, third))
    }

    /// The id of the first object that matches; nil if none does.
    public func fetchObjectID<T>(_ from: From<T>, _ first: any FetchClause<T>) throws -> ObjectID<T>? {
        try fetchObjectID(from.chain(first))
    }
    public func fetchObjectID<T>(_ from: From<T>, _ first: any FetchClause<T>, _ second: any FetchClause<T>) throws -> ObjectID<T>? {
        try fetchObjectID(from.chain(first, second))
    }
    public func fetchObjectID<T>(
        _ from: From<T>, _ first: any FetchClause<T>, _ second: any FetchClause<T>, _ third: any FetchClause<T>
    ) throws -> ObjectID<T>? {
        try fetchObjectID(from.chain(first, second, third))
    }

    /// How a fetch would be carried out: access path, what the engine does, what remains.
    public func explain<T>(_ from: From<T>, _ first: any FetchClause<T>) throws -> String { try explain(from.chain(first)) }
    public func explain<T>(_ from: From<T>, _ first: any FetchClause<T>, _ second: any FetchClause<T>) throws -> String {
        try explain(from.chain(first, second))
    }
    public func explain<T>(
        _ from: From<T>, _ first: any FetchClause<T>, _ second: any FetchClause<T>, _ third: any FetchClause<T>
    ) throws -> String {
        try explain(from.chain(first, second, third))
    }
}

extension From {
    /// The clauses applied in order.
    func chain(_ clauses: any FetchClause<T>...) -> FetchChain<T> {
        var chain = chain
        for clause in clauses { clause.apply(to: &chain) }
        return chain
    }
}

extension FetchSource {
    /// The source with the clauses applied in order.
    func chain(_ clauses: [any FetchClause<Entity>]) -> FetchChain<Entity> {
        var chain = chain
        for clause in clauses { clause.apply(to: &chain) }
        return chain
    }
}
