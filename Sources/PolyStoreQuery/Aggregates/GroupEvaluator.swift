import PolyStoreBackend

/// Computes groups and aggregates of expressions over records of one store or of several. This is the reference semantics for requests that
/// `AggregateRequest` cannot express.
///
/// The values of the expressions are written to temporary records, which an ``AggregateEvaluator`` aggregates.
public final class GroupEvaluator {
    private let request: GroupRequest
    /// Receives one record for each row.
    private let rows: Feed
    /// Receive one record for each member; one feed for each aggregate over members.
    private let members: [Feed]
    /// The feed that computes each aggregate, and the position of the result in it.
    private var places: [(feed: Feed, position: Int)] = []

    /// Creates an evaluator for a request.
    public init(_ request: GroupRequest) throws {
        self.request = request
        var plain: [Aggregate] = []
        var members: [Feed] = []
        for aggregate in request.aggregates where !aggregate.isOverMembers { plain.append(aggregate) }
        rows = try Feed(request, plain)
        var position = 0
        for aggregate in request.aggregates {
            if aggregate.isOverMembers {
                let feed = try Feed(request, [aggregate])
                members.append(feed)
                places.append((feed, 0))
            } else {
                places.append((rows, position))
                position += 1
            }
        }
        self.members = members
    }

    /// Adds every row of a cursor.
    /// - Parameters:
    ///   - cursor: The rows. The evaluator reads the cursor to its end.
    ///   - request: The request for the store of the rows. It may differ between stores only in field indexes and relationships.
    ///   - related: Looks up the related objects that the expressions refer to.
    public func add(_ cursor: RecordCursor, of request: GroupRequest, _ related: any RelatedRecords) throws {
        let lookup = RelatedLookup(related)
        let keys = request.groupBy.map { ExpressionNode.make($0, lookup) }
        var operands: [ExpressionNode] = []
        var collections: [ExpressionNode] = []
        for aggregate in request.aggregates {
            guard let operand = aggregate.operand else { continue }
            if aggregate.isOverMembers {
                collections.append(.make(operand, lookup))
            } else {
                operands.append(.make(operand, lookup))
            }
        }
        while try cursor.next() {
            let (id, record) = (cursor.id, cursor.record)
            let key = try keys.map { try $0.value(id, record) }
            try rows.add(key + operands.map { try $0.value(id, record) })
            for (feed, collection) in zip(members, collections) {
                for member in try collection.members(id, record) { try feed.add(key + [member]) }
            }
        }
    }

    /// Returns the groups that satisfy ``GroupRequest/having``, in order.
    /// - Parameter related: looks up the related objects that ``GroupRequest/having`` refers to.
    /// - Throws: `invalidValue` if a sum of integers overflows 64 bits.
    public func finish(_ related: (any RelatedRecords)?) throws -> [AggregateRow] {
        let groups = try rows.evaluator.finish()
        let answers = try members.map { feed in
            (
                of: Dictionary(uniqueKeysWithValues: try feed.evaluator.finish().map { ($0.group, $0.values) }),
                ofNothing: try feed.ofNothing()
            )
        }
        let all = groups.map { row in
            var next = answers.makeIterator()
            let values = places.map { feed, position in
                feed === rows ? row.values[position] : next.next().map { ($0.of[row.group] ?? $0.ofNothing)[0] } ?? .null
            }
            return AggregateRow(group: row.group, values: values)
        }
        return try request.selected(all, related)
    }
}

/// Writes values to temporary records and passes them to an evaluator.
private final class Feed {
    let evaluator: AggregateEvaluator
    private let request: AggregateRequest
    private let arena = RecordArena()

    init(_ request: GroupRequest, _ aggregates: [Aggregate]) throws {
        let operands = aggregates.compactMap { aggregate in
            aggregate.operand.map { aggregate.isOverMembers ? ($0.memberDescription, $0.memberType ?? $0.type) : ($0.description, $0.type) }
        }
        let entity = try Entity(
            columnsOf: request.entity, request.groupBy.map(\.description) + operands.map(\.0),
            request.groupBy.map(\.type) + operands.map(\.1))
        var fields = entity.fields.map { FieldReference($0) }
        let groupBy = Array(fields.prefix(request.groupBy.count))
        fields.removeFirst(groupBy.count)
        let over = aggregates.map { aggregate in
            aggregate.operand == nil ? aggregate : .of(aggregate.function, .field(fields.removeFirst()))
        }
        self.request = AggregateRequest(entity, groupBy: groupBy, aggregates: over)
        evaluator = AggregateEvaluator(self.request)
    }

    func add(_ values: [Value]) throws {
        arena.removeAll()
        var builder = RecordBuilder(arena)
        builder.begin(request.entity.layout)
        for (field, value) in zip(request.entity.fields, values) { try builder.set(field, value) }
        evaluator.add(id: 0, try builder.finishedView())
    }

    /// Returns the results of a group that has no values.
    func ofNothing() throws -> [Value] {
        try AggregateEvaluator(AggregateRequest(request.entity, aggregates: request.aggregates)).finish()[0].values
    }
}

extension GroupRequest {
    /// Returns the groups that satisfy the condition, in order, after offset and limit.
    func selected(_ groups: [AggregateRow], _ related: (any RelatedRecords)?) throws -> [AggregateRow] {
        var groups = groups
        if having != .all || !sortKeys.isEmpty {
            let arena = RecordArena()
            let evaluator = PredicateEvaluator(having, related)
            let values = SortValues(sortKeys, related)
            var wanted: [(place: Int, values: [Value])] = []
            for (place, group) in groups.enumerated() {
                arena.removeAll()
                var builder = RecordBuilder(arena)
                builder.begin(columns.layout)
                for (field, value) in zip(columns.fields, group.group + group.values) { try builder.set(field, value) }
                let record = try builder.finishedView()
                if try evaluator.matches(id: 0, record) { wanted.append((place, try values.values(0, record))) }
            }
            let order = RecordOrder(sortKeys)
            wanted.sort { order.compare(Int64($0.place), $0.values, Int64($1.place), $1.values) < 0 }
            groups = wanted.map { groups[$0.place] }
        }
        let rest = groups.dropFirst(offset)
        return Array(limit.map { rest.prefix($0) } ?? rest)
    }
}

extension ReadTransaction {
    /// Returns the groups of a request in order. Works with any backend.
    /// - Throws: the `invalidPredicate` errors of ``GroupRequest/validate()``; `invalidValue` if a sum of integers overflows 64 bits.
    public func groups(_ request: GroupRequest) throws -> [AggregateRow] {
        try request.validate()
        if let plain = request.plain { return try request.selected(try aggregate(plain), self) }
        let evaluator = try GroupEvaluator(request)
        let cursor = try fetch(request.source)
        defer { cursor.close() }
        try evaluator.add(cursor, of: request, self)
        return try evaluator.finish(self)
    }
}
