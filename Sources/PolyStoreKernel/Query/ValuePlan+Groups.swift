import PolyStoreBackend
import PolyStoreConditions
import PolyStoreQuery

extension ValuePlan {
    /// Returns a row for each group.
    func groups() throws -> [[QueryValue?]] {
        let (groups, columns, outputs) = try groupedValues()
        var answers = Answers(options, isCut: !options.returnsDistinctResults)
        let kinds = try columns.kinds(entries[0])
        for group in groups {
            if answers.isFull { break }
            let entry = columns.entry(of: group)
            answers.add(try outputs.map { try context.value(group[column: $0], kinds[$0], entry) })
        }
        return answers.rows
    }

    /// Returns the values of each group, as the stores return them, the column of each selected term, and the first key of each group.
    func storedValues() throws -> (groups: [AggregateRow], outputs: [Int], keys: [QueryValue?]) {
        let (groups, columns, outputs) = try groupedValues()
        guard !groupBy.isEmpty else { return (groups, outputs, []) }
        let kind = try columns.kinds(entries[0])[0]
        return (groups, outputs, try groups.map { try context.value($0[column: 0], kind, columns.entry(of: $0)) })
    }

    /// Returns the values of all columns for each group, the columns, and the column of each selected term.
    private func groupedValues() throws -> (groups: [AggregateRow], columns: GroupColumns<T>, outputs: [Int]) {
        var columns = try GroupColumns(self)
        let outputs = try zip(terms, names).map { try columns.output($0, $1) }
        var conditions: [Condition] = []
        if let named = query.having {
            conditions.append(try named.condition().renamed { try columns.path(named: $0) })
        }
        if let condition = query.havingColumns { conditions.append(try condition.renamed { try columns.path(of: $0) }) }
        let having = conditions.isEmpty ? nil : conditions.count == 1 ? conditions[0] : .and(conditions)
        let order = try (query.chain.order?.keys ?? []).map { key in (key, try columns.path(of: key.name)) }

        var requests = try entries.enumerated().map { try columns.request($0.element, store: $0.offset) }
        let (first, schema) = (requests[0], entries[0].store.schema)
        if entries.count > 1, having?.namesObjects ?? false {
            throw StoreError(
                .unsupported,
                "Having cannot compare with an object where groups of several stores are asked for. Ask each store, or use Where.",
                entity: T._$entityName)
        }
        let result = having == nil && order.isEmpty ? first.entity : try first.columns()
        let condition = try having?.resolved(for: result, in: schema, store: entries[0].store.storeID) ?? .all
        let sortKeys = try order.map { key, path in
            try key.key(by: try Operand.path(path).resolved(for: result, in: schema).expression, entries[0])
        }
        for index in requests.indices {
            requests[index].predicate = try context.predicate(query.chain, entries[index])
            requests[index].having = condition
            requests[index].sortKeys = sortKeys
            guard !options.returnsDistinctResults else { continue }
            (requests[index].limit, requests[index].offset) = (options.limit, options.offset)
        }
        return (try aggregated(requests), columns, outputs)
    }

    private func aggregated(_ requests: [AggregateRequest]) throws -> [AggregateRow] {
        if requests.count == 1, !(options.includesPendingChanges && context.changeBuffer != nil) {
            return try context.storage(entries[0].store).aggregate(requests[0])
        }
        if requests.count > 1,
            requests[0].having.needsRelated || requests[0].sortKeys.contains(where: { $0.expression?.needsRelated ?? false })
        {
            throw StoreError(
                .unsupported, "The groups of several stores cannot be asked about objects that they lead to. Group by what is asked about.",
                entity: T._$entityName)
        }
        // The average of several averages is not the overall average, so the records of all stores go through one evaluator.
        let evaluator = try AggregateEvaluator(requests)
        for (entry, request) in zip(entries, requests) {
            try request.validate()
            let cursor = try context.rows(entry, request.source, options)
            defer { cursor.close() }
            try evaluator.add(cursor, of: request, try context.related(entry.store, options))
        }
        return try evaluator.finish(requests.count == 1 ? try context.related(entries[0].store, options) : nil)
    }
}

extension AggregateRow {
    /// The value of a column: the grouping keys come first, then the aggregates.
    subscript(column index: Int) -> Value { index < group.count ? group[index] : values[index - group.count] }
}

/// The columns of a grouped result: the grouping keys, then the aggregates that are selected or referred to by a condition or an order.
private struct GroupColumns<T: Model> {
    private let plan: ValuePlan<T>
    private let groupNames: [String]
    private var aggregates: [QueryTerm] = []
    private var aggregateNames: [String] = []
    /// The column that holds the store of a group's objects; nil if it is not needed.
    let storeColumn: Int?

    init(_ plan: ValuePlan<T>) throws {
        self.plan = plan
        let first = plan.entries[0]
        let hasObjects = try plan.groupBy.contains { try $0.value(first).target != nil }
        storeColumn = hasObjects && plan.entries.count > 1 ? plan.groupBy.count : nil
        groupNames = plan.groupBy.map(\.name)
    }

    /// Returns the store of the objects of a group.
    func entry(of group: AggregateRow) -> StoreEntity {
        if let storeColumn, case .integer(let store) = group[column: storeColumn] { plan.entries[Int(store)] } else { plan.entries[0] }
    }

    /// Returns the column of a selected value.
    mutating func output(_ term: QueryTerm, _ name: String) throws -> Int {
        if let group = plan.groupBy.firstIndex(of: term) { return group }
        guard term.function != nil else {
            throw plan.fault(
                "\"\(name)\" differs among the objects of a group: group by it, or select a function of it, like \"count(\(term.text))\".")
        }
        return column(of: term, name)
    }

    private mutating func column(of term: QueryTerm, _ name: String) -> Int {
        let groups = plan.groupBy.count + (storeColumn == nil ? 0 : 1)
        if let known = aggregates.firstIndex(of: term) { return groups + known }
        aggregates.append(term)
        aggregateNames.append(name)
        return groups + aggregates.count - 1
    }

    // MARK: Names

    /// Returns a name for a column that is derived from its index, so that names are unambiguous.
    private func field(_ column: Int, rest: [String] = [], _ location: FormatLocation) -> PropertyPath {
        PropertyPath([columnNames[column]] + rest, location: location)
    }

    /// Returns the column path for an operand by stored names; nil if it is neither a key nor an aggregate, and consists of others.
    mutating func path(of operand: Operand) throws -> PropertyPath? {
        if let group = plan.groupBy.firstIndex(where: { $0.function == nil && $0.operand == operand }) { return field(group, .none) }
        switch operand {
        case .path, .aggregate: return try path(of: QueryTerm(operand: operand), .none)
        default: return nil
        }
    }

    /// Returns the column path for an operand whose names can be aliases; nil if it consists of others.
    mutating func path(named operand: Operand) throws -> PropertyPath? {
        if case .path(let path) = operand { return try self.path(path) }
        return try path(of: operand)
    }

    /// Returns the column path for a path in a condition on groups.
    private mutating func path(_ path: PropertyPath) throws -> PropertyPath {
        let name = path.keys.joined(separator: ".")
        if let alias = plan.names.firstIndex(of: name) {
            let column = try output(plan.terms[alias], name)
            return field(column, path.location)
        }
        return try self.path(of: QueryTerm(path), path.location)
    }

    mutating func path(of name: QueryName) throws -> PropertyPath {
        if let alias = plan.alias(name) {
            let column = try output(plan.terms[alias], plan.names[alias])
            return field(column, .none)
        }
        if case .operand(let operand) = name {
            if let path = try path(of: operand) { return path }
            return try path(of: QueryTerm(operand: operand), .none)
        }
        let term = try QueryTerm(nil, name, T.self, plan.context, plan.entries[0])
        if case .path(let path)? = term.operand { return try self.path(of: term, path.location) }
        return try path(of: term, .none)
    }

    private mutating func path(of term: QueryTerm, _ location: FormatLocation) throws -> PropertyPath {
        if let group = plan.groupBy.firstIndex(of: term) { return field(group, location) }
        if term.function != nil {
            _ = try term.aggregate(plan.entries[0])
            let column = column(of: term, term.name)
            return field(column, location)
        }
        // A path that continues from an object that is a grouping key.
        if case .path(let wanted)? = term.operand {
            for (index, key) in plan.groupBy.enumerated() {
                guard case .path(let known)? = key.operand, known.keys.count < wanted.keys.count, wanted.keys.starts(with: known.keys)
                else {
                    continue
                }
                return field(index, rest: Array(wanted.keys.dropFirst(known.keys.count)), location)
            }
        }
        let known = groupNames + plan.names.filter { !groupNames.contains($0) }
        throw location.error(
            "\"\(term.text)\" is neither a group key nor computed over the groups; there \(known.count == 1 ? "is" : "are") \(known.joined(separator: ", ")).",
            entity: T._$entityName)
    }

    private var columnNames: [String] {
        var taken: Set<String> = ["objectID"]
        let all = groupNames + (storeColumn == nil ? [] : ["store"]) + aggregateNames
        return all.map { name in
            var name = name.uppercased() == "SELF" ? "object" : name
            while !taken.insert(name).inserted { name += " " }
            return name
        }
    }

    // MARK: Requests

    func request(_ entry: StoreEntity, store: Int) throws -> AggregateRequest {
        var groupBy = try plan.groupBy.map { try $0.value(entry).expression }
        if storeColumn != nil { groupBy.append(.constant(.integer(Int64(store)), .int64)) }
        let aggregates = try aggregates.map { term in
            let (aggregate, target) = try term.aggregate(entry)
            let isOfObjects = target != nil || aggregate.isOverMembers && term.operandIsObject(entry)
            guard plan.entries.count > 1, aggregate.function == .countDistinct, isOfObjects else { return aggregate }
            // Objects of different stores can have the same id.
            guard let operand = aggregate.operand, !aggregate.isOverMembers,
                let scaled = QueryExpression.arithmetic(.multiply, operand, .constant(.integer(Int64(plan.entries.count)), .int64)),
                let unlike = QueryExpression.arithmetic(.add, scaled, .constant(.integer(Int64(store)), .int64))
            else { throw plan.fault("\(term.name) across several stores is not supported; ask each store.") }
            return .of(.countDistinct, unlike)
        }
        return AggregateRequest(entry.entity, groupBy: groupBy, aggregates: aggregates, names: columnNames)
    }

    func kinds(_ entry: StoreEntity) throws -> [ValueColumn] {
        var kinds = try plan.groupBy.map { term in
            let (expression, target) = try term.value(entry)
            return ValueColumn(type: expression.type, target: target)
        }
        if storeColumn != nil { kinds.append(ValueColumn(type: .int64, target: nil)) }
        return try kinds + aggregates.map { ValueColumn(type: try $0.aggregate(entry).aggregate.type, target: nil) }
    }
}
