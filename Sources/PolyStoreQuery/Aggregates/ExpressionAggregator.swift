import PolyStoreBackend

/// Computes groups and aggregates of expressions over records of one store or of several.
///
/// The values of the expressions are written to temporary records, which a ``FieldAggregator`` aggregates.
final class ExpressionAggregator {
    private let request: AggregateRequest
    /// Receives one record for each row.
    private let rows: Feed
    /// Receive one record for each member; one feed for each aggregate over members.
    private let members: [Feed]
    /// The feed that computes each aggregate, and the position of the result in it.
    private var inputs: [(feed: Feed, position: Int)] = []

    init(_ request: AggregateRequest) throws {
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
                inputs.append((feed, 0))
            } else {
                inputs.append((rows, position))
                position += 1
            }
        }
        self.members = members
    }

    /// Adds every row of a cursor; see ``AggregateEvaluator``.
    func add(_ cursor: RecordCursor, of request: AggregateRequest, _ related: any RelatedRecords) throws {
        let (cursor, related) = cursor.ahead(
            nil, request.groupBy + request.aggregates.compactMap(\.operand), related, request.entity.layout)
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
            let (id, record) = (cursor.rowID, cursor.record)
            let key = try keys.map { try $0.value(id, record) }
            try rows.add(key + operands.map { try $0.value(id, record) })
            for (feed, collection) in zip(members, collections) {
                for member in try collection.members(id, record) { try feed.add(key + [member]) }
            }
        }
    }

    /// Returns all groups in ascending order, null first.
    func finish() throws -> [AggregateRow] {
        let groups = try rows.aggregator.finish()
        let answers = try members.map { feed in
            (
                of: Dictionary(uniqueKeysWithValues: try feed.aggregator.finish().map { ($0.group, $0.values) }),
                ofNothing: try feed.ofNothing()
            )
        }
        return groups.map { row in
            var next = answers.makeIterator()
            let values = inputs.map { feed, position in
                feed === rows ? row.values[position] : next.next().map { ($0.of[row.group] ?? $0.ofNothing)[0] } ?? .null
            }
            return AggregateRow(group: row.group, values: values)
        }
    }
}

/// Writes values to temporary records and passes them to an aggregator of their fields.
private final class Feed {
    let aggregator: FieldAggregator
    private let entity: Entity
    private let aggregates: [Aggregate]
    private let arena = RecordArena()

    init(_ request: AggregateRequest, _ aggregates: [Aggregate]) throws {
        let operands = aggregates.compactMap { aggregate in
            aggregate.operand.map { aggregate.isOverMembers ? ($0.memberDescription, $0.memberType ?? $0.type) : ($0.description, $0.type) }
        }
        entity = try Entity(
            columnsOf: request.entity, request.groupBy.map(\.description) + operands.map(\.0),
            request.groupBy.map(\.type) + operands.map(\.1))
        var fields = entity.fields.map { FieldReference($0) }
        let groupBy = Array(fields.prefix(request.groupBy.count))
        fields.removeFirst(groupBy.count)
        self.aggregates = aggregates.map { aggregate in
            aggregate.operand == nil ? aggregate : .of(aggregate.function, .field(fields.removeFirst()))
        }
        aggregator = FieldAggregator(entity, groupBy: groupBy, self.aggregates)
    }

    func add(_ values: [Value]) throws {
        arena.removeAll()
        var builder = RecordBuilder(arena)
        builder.begin(entity.layout)
        for (field, value) in zip(entity.fields, values) { try builder.set(field, value) }
        aggregator.add(id: 0, try builder.finishedView())
    }

    /// Returns the results of a group that has no values.
    func ofNothing() throws -> [Value] {
        try FieldAggregator(entity, groupBy: [], aggregates).finish()[0].values
    }
}
