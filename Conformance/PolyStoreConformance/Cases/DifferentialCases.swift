import PolyStoreBackend

/// Random rows and requests against a model that shares no code with the framework's evaluator, order or executor.
let differentialCases: [ConformanceCase] = (1...6).map { seed in
    ConformanceCase(
        "differential.seed-\(seed)", "Random requests on random objects, before and after random changes, answer as a naive model does."
    ) { run in
        var random = SplitMix(UInt64(seed) &* 7919)
        let store = try run.open(Model.schema)
        let thing = try store.entity("Thing")
        var model = Model()
        let first = (1...120).map { Int64($0) }
        try store.change { changes in
            for id in first {
                let row = Model.row(&random)
                model.rows[id] = row
                try changes.insert(thing, id: id, row)
            }
        }
        for round in 0..<4 {
            try store.read { transaction in
                for number in 0..<60 {
                    let request = Model.request(thing, &random)
                    let expected = model.answer(request)
                    let what =
                        "seed \(seed), round \(round), request \(number): \(request.predicate) order \(request.sortKeys.map { "\($0.field.name) \($0.ascending) \($0.nulls)" }) limit \(request.limit.map(String.init) ?? "none") offset \(request.offset)"
                    try run.expect(try transaction.ids(request), equals: expected, what)
                    try run.expect(try transaction.count(request), equals: expected.count, "count of \(what)")
                }
            }
            // Random changes, all in one change set.
            try store.change { changes in
                for id in model.rows.keys.sorted() {
                    switch random.next(6) {
                    case 0:
                        changes.delete(thing, id: id)
                        model.rows[id] = nil
                    case 1, 2:
                        let row = Model.row(&random)
                        let column = random.next(Model.types.count)
                        let name = thing.fields[column].name
                        try changes.update(thing, id: id, KeyValuePairs(dictionaryLiteral: (name, row[column])))
                        model.rows[id]?[column] = row[column]
                    default: continue
                    }
                }
                for _ in 0..<15 {
                    let id = Int64(1000 * (round + 1) + random.next(900))
                    guard model.rows[id] == nil else { continue }
                    let row = Model.row(&random)
                    model.rows[id] = row
                    try changes.insert(thing, id: id, row)
                }
            }
        }
    }
}

/// The generator of Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
struct SplitMix {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ z >> 30) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ z >> 27) &* 0x94d0_49bb_1331_11eb
        return z ^ z >> 31
    }
    mutating func next(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}

/// Rows in a dictionary, and the meaning of requests spelled out on them.
private struct Model {
    static let types: [AttributeType] = [.int64, .double, .string, .uint64, .bool]
    static let schema = SchemaDescription(
        name: "Model",
        entities: [
            EntityDescription(
                name: "Thing",
                properties: types.enumerated().map { index, type in
                    .attribute(AttributeDescription(name: type.rawValue, type: type, isOptional: true, isIndexed: index % 2 == 0))
                }, indexes: [IndexDescription(fields: ["bool", "int64"])])
        ])

    var rows: [Int64: [Value]] = [:]

    static func row(_ random: inout SplitMix) -> [Value] { types.map { value($0, &random) } }

    static func value(_ type: AttributeType, _ random: inout SplitMix) -> Value {
        if random.next(6) == 0 { return .null }
        switch type {
        case .int64: return .integer([-3, -1, 0, 1, 2, 5, .min, .max][random.next(8)])
        case .double: return .real([-.infinity, -1.5, 0, 0.5, 2, .infinity, .nan, 7][random.next(8)])
        case .string: return .text(["", "a", "A", "ab", "b", "é", "a\u{0}", "zz"][random.next(8)])
        case .uint64: return .integer([0, 1, 9, .max, .min, -1][random.next(6)])
        default: return .integer(Int64(random.next(2)))
        }
    }

    static func predicate(_ thing: Entity, _ depth: Int, _ random: inout SplitMix) -> QueryPredicate {
        let column = random.next(types.count)
        let field = FieldReference(thing.fields[column])
        switch random.next(depth > 0 ? 9 : 6) {
        case 0, 1, 2: return .compare(field, ComparisonOperator.allCases[random.next(6)], value(types[column], &random))
        case 3: return .isNull(field)
        case 4: return .oneOf(field, (0..<random.next(4)).map { _ in value(types[column], &random) })
        case 5:
            return .text(
                FieldReference(thing.fields[2]), TextOperator.allCases[random.next(3)], ["", "a", "b", "é", "\u{0}"][random.next(5)])
        case 6: return .and((0..<2 + random.next(2)).map { _ in predicate(thing, depth - 1, &random) })
        case 7: return .or((0..<2 + random.next(2)).map { _ in predicate(thing, depth - 1, &random) })
        default: return .not(predicate(thing, depth - 1, &random))
        }
    }

    static func request(_ thing: Entity, _ random: inout SplitMix) -> FetchRequest {
        let keys = (0..<random.next(3)).map { _ in
            SortKey(
                FieldReference(thing.fields[random.next(types.count)]), ascending: random.next(2) == 0,
                nulls: [.smallest, .first, .last][random.next(3)])
        }
        return FetchRequest(
            thing, predicate: predicate(thing, 3, &random), sortKeys: keys, limit: random.next(2) == 0 ? nil : random.next(30),
            offset: random.next(3) == 0 ? random.next(20) : 0)
    }

    func answer(_ request: FetchRequest) -> [Int64] {
        let found = rows.filter { holds(request.predicate, $0.key, $0.value) == true }.map(\.key)
        let sorted = found.sorted { left, right in
            for key in request.sortKeys {
                guard let first = rows[left]?[key.field.ordinal], let second = rows[right]?[key.field.ordinal] else { continue }
                if first.isNull || second.isNull {
                    if first.isNull && second.isNull { continue }
                    let nullsFirst = key.nulls == .first || key.nulls == .smallest && key.ascending
                    return first.isNull == nullsFirst
                }
                let order = compare(first, second, key.field.type)
                if order != 0 { return key.ascending ? order < 0 : order > 0 }
            }
            return left < right
        }
        let rest = sorted.dropFirst(request.offset)
        return Array(request.limit.map { rest.prefix($0) } ?? rest)
    }

    /// nil is unknown.
    private func holds(_ predicate: QueryPredicate, _ id: Int64, _ row: [Value]) -> Bool? {
        switch predicate.node {
        case .constant(let value): return value
        case .isNull(let field): return row[field.ordinal].isNull
        case .compare(let field, let comparison, let constant):
            if row[field.ordinal].isNull || constant.isNull { return nil }
            let order = compare(row[field.ordinal], constant, field.type)
            switch comparison {
            case .equal: return order == 0
            case .notEqual: return order != 0
            case .less: return order < 0
            case .lessOrEqual: return order <= 0
            case .greater: return order > 0
            case .greaterOrEqual: return order >= 0
            }
        case .oneOf(let field, let values):
            if row[field.ordinal].isNull { return nil }
            return values.contains { !$0.isNull && compare(row[field.ordinal], $0, field.type) == 0 }
        case .text(let field, let operation, let pattern):
            guard case .text(let text) = row[field.ordinal] else { return nil }
            let (bytes, part) = (Array(text.utf8), Array(pattern.utf8))
            switch operation {
            case .beginsWith: return bytes.starts(with: part)
            case .endsWith: return Array(bytes.reversed()).starts(with: part.reversed())
            case .contains: return bytes.indices.contains { bytes[$0...].starts(with: part) } || part.isEmpty
            }
        case .and(let parts):
            let values = parts.map { holds($0, id, row) }
            return values.contains(false) ? false : (values.contains(nil) ? nil : true)
        case .or(let parts):
            let values = parts.map { holds($0, id, row) }
            return values.contains(true) ? true : (values.contains(nil) ? nil : false)
        case .not(let part): return holds(part, id, row).map { !$0 }
        case .compareFields: return nil
        }
    }

    private func compare(_ left: Value, _ right: Value, _ type: AttributeType) -> Int {
        switch (left, right) {
        case (.integer(let left), .integer(let right)):
            if type == .uint64 {
                let (left, right) = (UInt64(bitPattern: left), UInt64(bitPattern: right))
                return left == right ? 0 : (left < right ? -1 : 1)
            }
            return left == right ? 0 : (left < right ? -1 : 1)
        case (.real(let left), .real(let right)):
            if left.isNaN || right.isNaN { return left.isNaN && right.isNaN ? 0 : (left.isNaN ? -1 : 1) }
            return left == right ? 0 : (left < right ? -1 : 1)
        case (.text(let left), .text(let right)):
            return Array(left.utf8) == Array(right.utf8) ? 0 : (left.utf8.lexicographicallyPrecedes(right.utf8) ? -1 : 1)
        default: return 0
        }
    }
}
