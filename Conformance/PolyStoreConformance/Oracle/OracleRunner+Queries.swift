import PolyStoreBackend

extension OracleRunner {
    /// Runs a query, with and without indexes where that is relevant, and compares the results.
    func check(_ query: OracleQuery, _ reader: any ReadTransaction, _ model: OracleModel, _ what: @autoclosure () -> String) throws {
        switch query {
        case .fetch(var request):
            let expected = model.answer(request)
            for ignoresIndexes in [false, true] {
                request.ignoresIndexes = ignoresIndexes
                try check(request, expected, reader, model, ignoresIndexes ? what() + ", without indexes" : what())
            }
        case .interleaved(let requests): try checkInTurn(requests, reader, model, what())
        case .explain(let request):
            let plan = try reader.explain(request)
            try expect(plan.rowsReturned, equals: model.answer(request).count, "\(what()): the rows returned")
        case .count(var request):
            let expected = model.answer(request).count
            for ignoresIndexes in [false, true] {
                request.ignoresIndexes = ignoresIndexes
                try expect(try reader.count(request), equals: expected, ignoresIndexes ? what() + ", without indexes" : what())
            }
        case .aggregate(var request):
            for ignoresIndexes in [false, true] {
                request.ignoresIndexes = ignoresIndexes
                try check(request, reader, model, ignoresIndexes ? what() + ", without indexes" : what())
            }
        case .related(let relationship, let sources):
            let found = try reader.related(relationship, of: sources)
            for source in sources {
                let targets = model.positioned(relationship, of: source)
                try expect(found[source], equals: targets.map(\.id), "\(what()): the targets of \(source)")
                let positions = relationship.isOrdered ? targets.map(\.position) : []
                try expect(found.positions(of: source), equals: positions, "\(what()): the positions of the targets of \(source)")
            }
        case .compared(let comparison):
            let (yes, no) = model.answer(comparison)
            for (predicate, expected) in [(comparison.predicate, yes), (.not(comparison.predicate), no)] {
                var request = FetchRequest(comparison.entity, predicate: predicate)
                for ignoresIndexes in [false, true] {
                    request.ignoresIndexes = ignoresIndexes
                    try check(request, expected, reader, model, "\(what()): \(predicate), without indexes \(ignoresIndexes)")
                }
            }
        case .searched(let condition):
            if let mismatch = try model.mismatch(condition, reader) {
                throw self.mismatch("\(what()): \(mismatch.what)", mismatch.expected, mismatch.found)
            }
        case .refused(let request): try checkRefusal(request, reader, what())
        case .record(let entity, let id):
            let expected = model.rows[entity.index][id]
            let record = try reader.record(entity, rowID: id)
            let found = record.map { record in entity.fields.map { record.value($0) } }
            guard let expected, let found else {
                return try expect(found == nil, equals: expected == nil, "\(what()): that there is none")
            }
            for field in entity.fields where !OracleValues.same(found[field.index], expected[field.index]) {
                throw mismatch("\(what()): \(field.name)", Self.described(expected[field.index]), Self.described(found[field.index]))
            }
        }
    }

    /// Checks that every kind of request throws the same error.
    private func checkRefusal(_ request: FetchRequest, _ reader: any ReadTransaction, _ what: @autoclosure () -> String) throws {
        let calls: [(String, () throws -> Void)] = [
            ("fetch", { try reader.fetch(request).close() }), ("plan", { _ = try reader.plan(request) }),
            ("explain", { _ = try reader.explain(request) }), ("count", { _ = try reader.count(request) }),
            (
                "aggregate",
                {
                    if !request.sortKeys.isEmpty { return try reader.fetch(request).close() }
                    _ = try reader.aggregate(AggregateRequest(request.entity, predicate: request.predicate, aggregates: [.count]))
                }
            ),
        ]
        for (name, ask) in calls {
            do {
                try ask()
            } catch let error as StoreError where error.code == .invalidPredicate {
                continue
            } catch {
                throw mismatch("\(what()), by \(name)", "the error invalidPredicate", "\(error)")
            }
            throw mismatch("\(what()), by \(name)", "the error invalidPredicate", "no error")
        }
    }

    private func check(
        _ request: FetchRequest, _ expected: [Int64], _ reader: any ReadTransaction, _ model: OracleModel, _ what: @autoclosure () -> String
    ) throws {
        let cursor = try reader.fetch(request)
        defer { cursor.close() }
        var found: [Int64] = []
        // A cursor that does not end is also an error.
        while found.count < expected.count + 100, try cursor.next() {
            found.append(cursor.rowID)
            try checkRow(cursor, request, model, what())
        }
        try expect(found, equals: expected, what())
    }

    /// Checks the fetched values of the current row. Whether the row is selected is checked separately.
    private func checkRow(_ cursor: RecordCursor, _ request: FetchRequest, _ model: OracleModel, _ what: @autoclosure () -> String) throws {
        guard !request.onlyIDs, let row = model.rows[request.entity.index][cursor.rowID] else { return }
        for field in request.entity.fields where request.fields?.contains(field.index) ?? true {
            let value = cursor.record.value(field)
            guard OracleValues.same(value, row[field.index]) else {
                throw mismatch("\(what()): \(field.name) of \(cursor.rowID)", Self.described(row[field.index]), Self.described(value))
            }
        }
    }

    private func checkInTurn(
        _ requests: [FetchRequest], _ reader: any ReadTransaction, _ model: OracleModel, _ what: @autoclosure () -> String
    ) throws {
        let cursors = try requests.map { try reader.fetch($0) }
        defer { for cursor in cursors { cursor.close() } }
        var found = requests.map { _ in [Int64]() }
        var open = Set(requests.indices)
        while !open.isEmpty {
            for index in open.sorted() {
                guard found[index].count < 100, try cursors[index].next() else {
                    open.remove(index)
                    continue
                }
                found[index].append(cursors[index].rowID)
                try checkRow(cursors[index], requests[index], model, what())
            }
        }
        try expect(found, equals: requests.map { model.answer($0) }, what())
    }

    private func check(
        _ request: AggregateRequest, _ reader: any ReadTransaction, _ model: OracleModel, _ what: @autoclosure () -> String
    ) throws {
        let answer = model.answer(request)
        let rows: [AggregateRow]
        do {
            rows = try reader.aggregate(request)
        } catch let error as StoreError where answer == nil && error.code == .invalidValue {
            return
        }
        func described(_ key: [Value]) -> String { "(\(key.map(Self.described).joined(separator: ", ")))" }
        guard let answer else {
            throw mismatch(what(), "the error invalidValue", rows.map { described($0.values) }.joined(separator: ", "))
        }
        let isSame =
            rows.count == answer.count
            && zip(rows, answer).allSatisfy { row, expected in
                zip(row.group, expected.key).allSatisfy { OracleValues.same($0, $1) }
                    && zip(row.values, expected.values).allSatisfy { $1.accepts($0) }
            }
        guard !isSame else { return }
        throw mismatch(
            what(), answer.map { "\(described($0.key)): \($0.values)" }.joined(separator: "; "),
            rows.map { "\(described($0.group)): \(described($0.values))" }.joined(separator: "; "))
    }

    /// Returns a value with its kind, because 1 and 1.0 have the same description.
    private static func described(_ value: Value) -> String {
        switch value {
        case .null: "null"
        case .integer(let value): "integer \(value)"
        case .real(let value): "real \(value)\(value.isNaN ? " of bits \(String(value.bitPattern, radix: 16))" : "")"
        case .text: "text \(value.literal)"
        case .blob(let bytes): "data \(bytes.count > 40 ? "of \(bytes.count) bytes" : "\(bytes)")"
        }
    }
}
