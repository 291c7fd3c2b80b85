import PolyStoreBackend

/// A query of values with its names resolved: the request for each store, and the columns of the result.
struct ValuePlan<T: Model> {
    let context: Context
    let entries: [StoreEntity]
    let query: ValueQuery<T>
    let options: FetchOptions
    /// The selected terms, all with different names.
    private(set) var terms: [QueryTerm] = []
    private(set) var names: [String] = []
    let groupBy: [QueryTerm]
    /// A Boolean value that indicates whether the result has one row for each group, or one for all objects without groups; otherwise one row for each object.
    let isGrouped: Bool

    init(_ query: ValueQuery<T>, _ select: [SelectTerm], _ context: Context) throws {
        if let error = query.error { throw error }
        self.query = query
        self.context = context
        options = query.chain.options.ofQuery
        try options.validate(T._$entityName)
        entries = try context.entries(of: query.chain.from)
        let first = entries[0]
        guard !select.isEmpty else { throw StoreError(.invalidPredicate, "Select names nothing to select.", entity: T._$entityName) }
        for one in select {
            let term = try QueryTerm(one.function, one.operand, T.self, context, first)
            let name = one.alias ?? term.name
            if let known = names.firstIndex(of: name) {
                if terms[known] == term { continue }
                throw StoreError(
                    .invalidPredicate,
                    "Two selected values are called \"\(name)\": \(terms[known].name) and \(term.name). Give one an alias with `as:`.",
                    entity: T._$entityName)
            }
            terms.append(term)
            names.append(name)
        }
        var keys: [QueryTerm] = []
        for name in query.groupBy {
            var key = try QueryTerm(nil, name, T.self, context, first)
            if case .text(let text) = name, let alias = names.firstIndex(of: text), terms[alias].function == nil { key = terms[alias] }
            if !keys.contains(key) { keys.append(key) }
        }
        groupBy = keys
        isGrouped = !keys.isEmpty || query.having != nil || query.havingColumns != nil || terms.allSatisfy { $0.function != nil }
    }

    func fault(_ message: String) -> StoreError { StoreError(.invalidPredicate, message, entity: T._$entityName) }

    /// Returns the index of the selected value with the given name; otherwise nil.
    func alias(_ name: QueryName) -> Int? { if case .text(let text) = name { names.firstIndex(of: text) } else { nil } }
}

/// The type of a result column.
struct ValueColumn {
    let type: AttributeType
    /// The entity of the object whose id the column holds.
    let target: Entity?
}

extension Context {
    /// Decodes a value of a store to a value of the result.
    final func value(_ value: Value, _ column: ValueColumn, _ entry: StoreEntity) throws -> QueryValue? {
        guard let target = column.target, case .integer(let key) = value else { return try QueryValue(value, column.type) }
        return .objectID(AnyObjectID(entry: self.entry(entry.store.firstEntityIndex + Int32(target.index)), rowID: key))
    }
}
