import PolyStoreBackend
import PolyStoreQuery

extension Transaction {
    /// Returns the first matching object, including pending ones, or creates one that matches.
    ///
    ///     jane.department = try transaction.fetchOrCreate(From<Department>(), Where(\.title == "Research"))
    ///
    /// A new object gets the values of the equality terms of the predicate: conjuncts that compare an attribute or a to-one relationship with a
    /// constant, in any query syntax. Other terms (`>`, `OR`, `NOT`, `IN`, text operators, paths over relationships) assign no value, so the default
    /// values must satisfy them. Two identical calls in one transaction return the same object.
    /// - Parameters:
    ///   - source: the objects to search; if sorted, the first one is returned. It must not have a limit or an offset.
    ///   - into: where to create the object; required if several stores are searched. It must be one of them.
    /// - Throws: `invalidPredicate` with the terms that a new object would not satisfy, in which case none is created; the errors of `create(_:)`
    ///   and of a fetch.
    public func fetchOrCreate<S: FetchSource>(_ source: S, into: Into<S.Entity>? = nil) throws -> S.Entity {
        try fetchedOrCreated(source, into).object
    }

    /// Changes the first matching object, including pending ones, or creates one that matches: an insert that updates on a conflict.
    ///
    ///     try transaction.upsert(From<Person>(), Where(\.email == "jane@example.com"), insert: { $0.name = "Jane" }, update: { $0.age += 1 })
    ///
    /// Transactions run one after another, so no other one creates the object meanwhile. With a condition on a unique attribute or on the attributes of a
    /// `#Unique`, at most one object matches, and it is found with the index. See ``fetchOrCreate(_:into:)-(S,_)`` for the values of a new object.
    /// - Parameters:
    ///   - source: The objects to search.
    ///   - into: Where to create the object.
    ///   - insert: Called with a new object.
    ///   - update: Called with the object that exists.
    /// - Returns: The object.
    /// - Throws: The errors of ``fetchOrCreate(_:into:)-(S,_)`` and of the closures. Nothing is changed then.
    @discardableResult
    public func upsert<S: FetchSource>(
        _ source: S, into: Into<S.Entity>? = nil, insert: (S.Entity) throws -> Void = { _ in }, update: (S.Entity) throws -> Void
    ) throws -> S.Entity {
        var result: S.Entity?
        try atomically {
            let (object, isNew) = try fetchedOrCreated(source, into)
            try isNew ? insert(object) : update(object)
            result = object
        }
        guard let result else { throw StoreError(.closed, "The transaction has ended.", entity: S.Entity._$entityName) }
        return result
    }

    private func fetchedOrCreated<S: FetchSource>(_ source: S, _ into: Into<S.Entity>?) throws -> (object: S.Entity, isNew: Bool) {
        var chain = source.chain
        guard chain.options.offset == 0, chain.options.limit.map({ $0 > 0 }) ?? true else {
            throw StoreError(
                .invalidPredicate, "A limit or an offset has no meaning where an object is created if there is none. Leave it out.",
                entity: S.Entity._$entityName)
        }
        chain.options.includesPendingChanges = true
        if let found = try fetchOne(chain) { return (found, false) }
        let entry = try entry(for: into ?? chain.from.onlyStore)
        guard try entries(of: chain.from).contains(where: { $0 === entry }) else {
            throw StoreError(
                .misuse,
                "\(S.Entity._$entityName) is fetched from other stores than the one that it would be created in, so it would never be found.",
                entity: S.Entity._$entityName)
        }
        return (try create(S.Entity.self, entry, matching: chain.condition?.predicate(self, entry) ?? .all), true)
    }

    private func create<T: Model>(_ type: T.Type, _ entry: StoreEntity, matching predicate: QueryPredicate) throws -> T {
        if let kind = entry.hierarchy?.entityClass(type), kind.isAbstract { throw abstract(kind) }
        let terms = predicate.conjuncts
        var values: [Int: Value] = [:]
        for term in terms {
            guard let (fieldIndex, value) = term.equality(of: entry.entity), entry.fields(of: type).contains(fieldIndex) else { continue }
            values[fieldIndex] = value
        }
        try checkNew(type, entry, values, terms)
        let object = try create(type, entry)
        let assigner = FieldAssigner(self)
        try assigner.assign(values, to: object, assigner.record(of: object, entry), entry)
        return object
    }

    /// Validates that a new object would match, before it is created.
    private func checkNew<T: Model>(_ type: T.Type, _ entry: StoreEntity, _ values: [Int: Value], _ terms: [QueryPredicate]) throws {
        func refused(_ terms: [QueryPredicate], _ why: String) -> StoreError {
            let names = terms.map(\.neverMet).joined(separator: "; ")
            return StoreError(
                .invalidPredicate,
                "No \(entry.entity.name) matches, and one cannot be created of the condition: \(names): \(why).", entity: entry.entity.name)
        }
        let assigner = FieldAssigner(self)
        // The object is not registered, so it is not visible to fetches.
        let draft = T(_$state: ModelState(identityMap(entry.entityIndex), rowID: 0))
        do {
            try draft._$load(assigner.record(assigner.record(of: draft, entry), with: values, entry.entity))
        } catch {
            throw refused(terms.filter { $0.equality(of: entry.entity) != nil }, "\(described(error, entry, 0).message)")
        }
        // Encodes only the fields of the object's class, as a commit does.
        let record = try assigner.record(of: draft, entry)
        let related = try terms.contains(where: \.needsTransaction) ? editing.relatedRecords(entry.store, FetchOptions()) : nil
        let unmet = try terms.filter { try !PredicateEvaluator($0, related).matches(id: 0, record) }
        guard unmet.isEmpty else { throw refused(unmet, "a new object would not satisfy that") }
    }
}

extension Transaction {
    /// Returns the first matching object, or creates one that matches; see ``fetchOrCreate(_:into:)-(S,_)``.
    public func fetchOrCreate<T>(_ from: From<T>, _ clauses: any FetchClause<T>..., into: Into<T>? = nil) throws -> T {
        try fetchOrCreate(from.chain(clauses), into: into)
    }
}

extension Transaction {
    /// Changes the first matching object, or creates one that matches; see ``upsert(_:into:insert:update:)-(S,_,_,_)``.
    @discardableResult
    public func upsert<T>(
        _ from: From<T>, _ clauses: any FetchClause<T>..., into: Into<T>? = nil, insert: (T) throws -> Void = { _ in },
        update: (T) throws -> Void
    ) throws -> T {
        try upsert(from.chain(clauses), into: into, insert: insert, update: update)
    }
}

extension Transaction {
    /// Changes the first matching object, or creates one that matches, with one closure for both: `upsert(Into<Book>(), where: \.isbn == "1") { $0.title = "A" }`.
    /// See ``upsert(_:into:insert:update:)-(S,_,_,_)``.
    @discardableResult
    public func upsert<T>(_ into: Into<T>, where condition: Where<T>, _ change: (T) throws -> Void) throws -> T {
        let source = if let configuration = into.configuration { From<T>(configuration) } else { From<T>() }
        return try upsert(source.where(condition), into: into, insert: change, update: change)
    }
}

extension From {
    /// The only store that the clause names, if there is exactly one.
    fileprivate var onlyStore: Into<T> {
        guard let configurations, let first = configurations.first, configurations.allSatisfy({ $0 == first }) else { return Into() }
        return Into(first)
    }
}

extension QueryPredicate {
    /// The description of an unsatisfied term, with the reason if no object can satisfy it.
    fileprivate var neverMet: String {
        guard case .oneOf(let value, let list) = node, list.isEmpty else { return description }
        return "\(value) equals nothing that it is compared with, as none is in the same store or the attribute cannot have the value"
    }

    /// Returns the field and the value if the predicate is an equality with a constant, otherwise nil.
    func equality(of entity: Entity) -> (index: Int, value: Value)? {
        func known(_ field: FieldReference, _ value: Value) -> (Int, Value)? { field.isObjectID ? nil : (field.index, value) }
        switch fieldCondition {
        case .compare(let field, .equal, let value)?: return value.isNull ? nil : known(field, value)
        case .isNull(let field)?: return known(field, .null)
        default: break
        }
        // The constant has another numeric type than the field.
        guard case .compare(let left, .equal, let right) = node, let field = left.asField, let constant = right.asConstant,
            field.type.isNumber
        else { return nil }
        switch (constant, field.type.physical) {
        case (.integer(let value), .real):
            return known(field, .real(right.type == .uint64 ? Double(UInt64(bitPattern: value)) : Double(value)))
        case (.real(let value), .integer):
            let whole = field.isUnsigned ? UInt64(exactly: value).map { Int64(bitPattern: $0) } : Int64(exactly: value)
            return whole.flatMap { known(field, .integer($0)) }
        default: return nil
        }
    }
}
