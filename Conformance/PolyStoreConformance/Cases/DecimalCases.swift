import PolyStoreBackend

/// Exact arithmetic with decimals.
let decimalCases: [ConformanceCase] =
    calculations.map { row in
        ConformanceCase("expression.decimal.\(row.id)", row.statement) { run in
            let store = try run.open(Fixtures.thing(.decimal))
            try store.insert("Thing", row.all.map { [OracleDecimal($0.left).value] } + [[.null]])
            let thing = try store.entity("Thing")
            let field = QueryExpression.field(try store.field("Thing", "value"))
            for (left, right, wanted) in row.all {
                let constant = right.constant
                guard let result = QueryExpression.arithmetic(row.operation, field, constant),
                    let reversed = QueryExpression.arithmetic(row.operation, constant, field)
                else { throw run.fail("\(left) \(row.operation.rawValue) \(right)") }
                try run.expect(result.type, equals: .decimal)
                let value = wanted.map { OracleDecimal($0).value } ?? .null
                // All rows with the same left side, and no others with this result.
                let predicate: QueryPredicate = wanted == nil ? .isNull(result) : .compare(result, .equal, .constant(value, .decimal))
                let found = try store.ids(FetchRequest(thing, predicate: predicate))
                let same = row.all.indices.filter { row.all[$0].left == left }.map { Int64($0 + 1) }
                try run.expect(
                    same.allSatisfy(found.contains), equals: true,
                    "\(left) \(row.operation.rawValue) \(right) is \(wanted ?? "null"): \(found)")
                // The value as a group is the value of the result.
                let request = AggregateRequest(
                    thing, predicate: .oneOf(.objectID, same.map { .integer($0) }), groupBy: [result], aggregates: [.count])
                let rows = try store.read { try $0.aggregate(request) }
                try run.expect(rows, equals: [AggregateRow(group: [value], values: [.integer(Int64(same.count))])], "\(result)")
                guard row.operation != .subtract else { continue }
                let mirrored: QueryPredicate = wanted == nil ? .isNull(reversed) : .compare(reversed, .equal, .constant(value, .decimal))
                try run.expect(try store.ids(FetchRequest(thing, predicate: mirrored)), equals: found, "\(reversed) is \(wanted ?? "null")")
            }
        }
    } + [
        ConformanceCase(
            "expression.decimal.of-attributes", "Decimals are calculated from two attributes, compared, sorted, grouped and summed."
        ) { run in
            func attribute(_ name: String, _ type: AttributeType) -> PropertyDescription {
                .attribute(AttributeDescription(name: name, type: type, isOptional: true))
            }
            let schema = SchemaDescription(
                name: "Shop",
                entities: [
                    EntityDescription(
                        name: "Item", properties: [attribute("price", .decimal), attribute("count", .int32), attribute("fee", .decimal)])
                ])
            let store = try run.open(schema)
            // Totals of 0.3, 2.2, null, −5, 0.3 and null.
            let rows: [(String?, Int64?, String?)] = [
                ("0.1", 3, "0"), ("1.05", 2, "0.1"), (nil, 1, "1"), ("-5", 1, "0"), ("0.25", 1, "0.05"), ("1", nil, "1"),
            ]
            try store.insert(
                "Item",
                rows.map {
                    [
                        $0.map { OracleDecimal($0).value } ?? .null, $1.map { .integer($0) } ?? .null,
                        $2.map { OracleDecimal($0).value } ?? .null,
                    ]
                })
            let item = try store.entity("Item")
            func field(_ name: String) throws -> QueryExpression { .field(try store.field("Item", name)) }
            guard let product = QueryExpression.arithmetic(.multiply, try field("price"), try field("count")),
                let total = QueryExpression.arithmetic(.add, product, try field("fee"))
            else { throw run.fail("types") }
            func decimal(_ text: String) -> QueryExpression { .constant(OracleDecimal(text).value, .decimal) }
            func ids(_ predicate: QueryPredicate) throws -> [Int64] { try store.ids(FetchRequest(item, predicate: predicate)) }
            try run.expect(try ids(.compare(total, .equal, decimal("0.3"))), equals: [1, 5])
            try run.expect(try ids(.compare(total, .greater, decimal("0.3"))), equals: [2])
            try run.expect(try ids(.not(.compare(total, .greater, decimal("0")))), equals: [4])
            try run.expect(try ids(.isNull(total)), equals: [3, 6])
            try run.expect(try ids(.compare(total, .equal, product)), equals: [1, 4])
            try run.expect(try ids(.oneOf(total, [OracleDecimal("2.2").value, .null, OracleDecimal("-5").value])), equals: [2, 4])
            var request = FetchRequest(item)
            request.sortKeys = [SortKey(total, nulls: .last)]
            try run.expect(try store.ids(request), equals: [4, 1, 5, 2, 3, 6])
            let found = try store.read {
                try $0.aggregate(
                    AggregateRequest(
                        item, aggregates: [.of(.sum, total), .of(.maximum, total), .of(.count, total), .of(.average, product)]))
            }
            let values = [OracleDecimal("-2.2").value, OracleDecimal("2.2").value, .integer(4), OracleDecimal("-0.5875").value]
            try run.expect(found, equals: [AggregateRow(group: [], values: values)])
        },
        ConformanceCase("expression.decimal.of-null", "Arithmetic with null is null.") { run in
            let store = try run.open(Fixtures.thing(.decimal))
            try store.insert("Thing", [[OracleDecimal("1").value], [.null]])
            let field = QueryExpression.field(try store.field("Thing", "value"))
            for operation in [ArithmeticOperator.add, .subtract, .multiply] {
                for type in [AttributeType.decimal, .int64, .uint64] {
                    guard let result = QueryExpression.arithmetic(operation, field, .constant(.null, type)) else { throw run.fail("types") }
                    try run.expect(
                        try store.ids(FetchRequest(try store.entity("Thing"), predicate: .isNull(result))), equals: [1, 2], "\(result)")
                }
            }
        },
    ]

/// The right side of a calculation.
private enum Operand: Sendable {
    case decimal(String)
    case integer(Int64)
    case unsigned(UInt64)

    var constant: QueryExpression {
        switch self {
        case .decimal(let text): .constant(OracleDecimal(text).value, .decimal)
        case .integer(let number): .constant(.integer(number), .int64)
        case .unsigned(let number): .constant(.integer(Int64(bitPattern: number)), .uint64)
        }
    }
}

/// Calculations with a decimal on the left side, and their results; nil for null.
private struct Calculation: Sendable {
    let id: String
    let operation: ArithmeticOperator
    let statement: String
    let all: [(left: String, right: Operand, result: String?)]
}

private let nines = String(repeating: "9", count: 38)

private let calculations: [Calculation] = [
    Calculation(
        id: "addition", operation: .add, statement: "A sum of decimals is exact.",
        all: [
            ("0.1", .decimal("0.2"), "0.3"), ("1.5", .decimal("-1.5"), "0"), ("-2.75", .decimal("0.25"), "-2.5"), ("0", .decimal("0"), "0"),
            ("1e20", .decimal("0.000001"), "100000000000000000000.000001"), (nines, .decimal("1"), "1e38"),
            ("-1", .decimal("0.01"), "-0.99"),
            ("1e150", .decimal("-1e150"), "0"), ("12.5", .decimal("1e-30"), "12.500000000000000000000000000001"),
        ]),
    Calculation(
        id: "subtraction", operation: .subtract, statement: "The same for a difference of decimals.",
        all: [
            ("1", .decimal("0.9"), "0.1"), ("0", .decimal("1.5"), "-1.5"), ("-0.1", .decimal("-0.1"), "0"),
            ("100", .decimal("0.01"), "99.99"),
            ("1e38", .decimal("1"), nines), ("-" + nines, .decimal("1"), "-1e38"),
        ]),
    Calculation(
        id: "multiplication", operation: .multiply, statement: "The same for a product of decimals.",
        all: [
            ("0.1", .decimal("0.1"), "0.01"), ("-1.1", .decimal("1.1"), "-1.21"), ("-2", .decimal("-0.5"), "1"),
            ("0", .decimal("-3.5"), "0"),
            ("2", .decimal("5"), "10"),
            ("12345678901234567890", .decimal("12345678901234567890"), "152415787532388367501905199875019052100"),
            ("1e100", .decimal("1e60"), "1e160"), ("1e-100", .decimal("1e-28"), "1e-128"),
            ("9999999999999999999", .decimal("9999999999999999999"), "99999999999999999980000000000000000001"),
        ]),
    Calculation(
        id: "with-integers-added", operation: .add, statement: "An integer and a decimal yield a decimal, for every integer of 64 bits.",
        all: [
            ("0.5", .integer(2), "2.5"), ("0.5", .integer(-1), "-0.5"), ("0.1", .integer(.min), "-9223372036854775807.9"),
            ("0.1", .integer(.max), "9223372036854775807.1"), ("0.5", .unsigned(.max), "18446744073709551615.5"), ("3", .integer(0), "3"),
        ]),
    Calculation(
        id: "with-integers-multiplied", operation: .multiply, statement: "The same for a product.",
        all: [
            ("1.5", .integer(10), "15"), ("1.5", .integer(0), "0"), ("-0.5", .integer(.min), "4611686018427387904"),
            ("0.1", .unsigned(.max), "1844674407370955161.5"), ("nan", .integer(0), "nan"),
        ]),
    Calculation(
        id: "overflow-of-a-sum", operation: .add, statement: "A sum with more than 38 digits is null; zeros at the end do not count.",
        all: [
            (nines, .decimal("0.1"), nil), ("1e100", .decimal("1"), nil), ("1", .decimal("1e-128"), nil), (nines, .decimal(nines), nil),
            ("1e37", .decimal("0.1"), nil), ("1e36", .decimal("0.1"), "1000000000000000000000000000000000000.1"),
        ]),
    Calculation(
        id: "overflow-of-a-product", operation: .multiply,
        statement: "A product with more than 38 digits, or outside the exponents of a decimal, is null.",
        all: [
            ("12345678901234567891", .decimal("12345678901234567891"), nil), ("1e100", .decimal("1e65"), nil),
            ("1e100", .decimal("1e64"), "1e164"),
            ("1e-100", .decimal("1e-29"), nil), (nines, .decimal("1e127"), "99999999999999999999999999999999999999e127"),
            (nines, .decimal("1e128"), nil),
        ]),
    Calculation(
        id: "not-a-number", operation: .add, statement: "Arithmetic with a decimal that is not a number yields one.",
        all: [("nan", .decimal("1"), "nan"), ("1", .decimal("nan"), "nan"), ("nan", .decimal("nan"), "nan"), ("nan", .integer(5), "nan")]),
]
