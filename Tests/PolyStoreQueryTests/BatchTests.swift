import Testing

@testable import PolyStoreBackend
@testable import PolyStoreQuery

/// Batch evaluation, compared with the evaluation of each row, for every type, comparison and constant.
@Suite struct BatchTests {
    private let constants: [Value] = [
        .null, .integer(.min), .integer(-1), .integer(0), .integer(1), .integer(200), .integer(.max), .real(-.infinity), .real(-1),
        .real(0), .real(-0.0),
        .real(2.5), .real(.infinity), .real(.nan),
    ]

    private func entity() throws -> Entity {
        let types: [AttributeType] = [
            .bool, .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .float, .double, .date, .string,
        ]
        let properties = types.map {
            PropertyDescription.attribute(AttributeDescription(name: "\($0)", type: $0, isOptional: true))
        }
        return try ResolvedSchema(SchemaDescription(name: "batch", entities: [EntityDescription(name: "All", properties: properties)]))
            .entities[0]
    }

    /// Passes rows with null, the limits of a range and values in between, in every field.
    private func rows(_ entity: Entity, _ body: (RecordBatch, [(id: Int64, record: RecordView)]) throws -> Void) throws {
        let arena = RecordArena()
        var builder = RecordBuilder(arena)
        var places: [(offset: Int, count: Int)] = []
        let integers: [Int64] = [0, 1, -1, 2, 100, .min, .max]
        let reals: [Double] = [0, 1, -1, 2.5, .infinity, -.infinity, .nan]
        for row in 0..<100 {
            builder.begin(entity.layout)
            for field in entity.fields where (row + field.index) % 8 < 7 {
                switch field.type.physical {
                case .integer: builder.setInteger(field.index, integers[(row + field.index) % 8])
                case .real: builder.setReal(field.index, reals[(row + field.index) % 8])
                default: builder.setText(field.index, "\(row % 4)")
                }
            }
            places.append(try builder.finish())
        }
        let records = UnsafeMutablePointer<UnsafeRawPointer?>.allocate(capacity: 100)
        let counts = UnsafeMutablePointer<Int>.allocate(capacity: 100)
        defer {
            records.deallocate()
            counts.deallocate()
        }
        let batch = RecordBatch(entity.layout, capacity: 100, records: records, counts: counts)
        var views: [(id: Int64, record: RecordView)] = []
        for (row, place) in places.enumerated() {
            let bytes = arena.bytes(place.offset, place.count)
            records[row] = bytes.baseAddress
            counts[row] = bytes.count
            batch.ids[row] = Int64(row) - 50
            views.append((Int64(row) - 50, arena.view(place.offset, place.count, entity.layout)))
        }
        try body(batch, views)
    }

    private func check(_ predicate: QueryPredicate, _ batch: RecordBatch, _ views: [(id: Int64, record: RecordView)]) throws {
        // The double negation forces evaluation as a tree node instead of a batch test.
        let reference = PredicateEvaluator(.or([predicate, .not(.not(predicate))]))
        let expected = try views.filter { try reference.matches(id: $0.id, $0.record) }.map(\.id)
        let evaluator = PredicateEvaluator(predicate)
        #expect(try views.filter { try evaluator.matches(id: $0.id, $0.record) }.map(\.id) == expected, "\(predicate)")
        batch.select(0..<views.count)
        try evaluator.select(batch)
        #expect((0..<batch.selected).map { batch.id($0) } == expected, "\(predicate)")
    }

    @Test func aConditionSelectsTheSameRowsEitherWay() throws {
        let entity = try entity()
        try rows(entity) { batch, views in
            for field in entity.fields.map({ FieldReference($0) }) + [.objectID] {
                try check(.isNull(field), batch, views)
                try check(.not(.isNull(field)), batch, views)
                for comparison in ComparisonOperator.allCases {
                    for constant in constants {
                        switch (constant, field.type.physical) {
                        case (.null, _), (.integer, .integer), (.real, .real):
                            let condition = QueryPredicate.compare(field, comparison, constant)
                            try check(condition, batch, views)
                            try check(.and([condition, .compare(FieldReference(entity.fields[12]), .equal, .text("1"))]), batch, views)
                        default: break
                        }
                    }
                }
            }
        }
    }

    @Test func anAggregateIsTheSameEitherWay() throws {
        let entity = try entity()
        try rows(entity) { batch, views in
            for field in entity.fields.map({ FieldReference($0) }) + [.objectID] {
                for groups in [[], [FieldReference(entity.fields[2])], [FieldReference(entity.fields[12])], [field]] as [[FieldReference]] {
                    var aggregates = [Aggregate.count, .count(field), .countDistinct(field), .minimum(field), .maximum(field)]
                    if field.type.physical != .text { aggregates.append(.average(field)) }
                    let (alone, together) = (
                        FieldAggregator(entity, groupBy: groups, aggregates), FieldAggregator(entity, groupBy: groups, aggregates)
                    )
                    for (number, view) in views.enumerated() where number % 3 > 0 { alone.add(id: view.id, view.record) }
                    for part in [0..<40, 40..<40, 40..<100] {
                        batch.select(part)
                        batch.narrow { $0 % 3 > 0 }
                        together.add(batch)
                    }
                    let (first, second) = (try alone.finish(), try together.finish())
                    #expect(first == second, "\(field.name) by \(groups.map(\.name))")
                }
            }
        }
    }
}
