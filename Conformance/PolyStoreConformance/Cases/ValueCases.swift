import PolyStoreBackend

/// Boundary values of every type are stored unchanged.
let valueCases: [ConformanceCase] =
    edges.map { type, values in
        ConformanceCase("value.\(type.rawValue).edges", "Boundary values of \(type.rawValue) are stored unchanged, and null stays null.") {
            run in
            let store = try run.open(Fixtures.thing(type))
            try store.insert("Thing", values.map { [$0] } + [[.null]])
            try store.read { transaction in
                let thing = try store.entity("Thing")
                for (index, value) in values.enumerated() {
                    try run.expect(try transaction.row(thing, Int64(index + 1)), equals: [value], "\(type) \(index)")
                }
                try run.expect(try transaction.row(thing, Int64(values.count + 1)), equals: [.null])
                try run.expect(try transaction.rows(FetchRequest(thing)), equals: values.map { [$0] } + [[.null]], "in a walk")
            }
            // Each can become null and be set again.
            for (index, value) in values.enumerated() {
                let id = Int64(index + 1)
                try store.change { try $0.update(try store.entity("Thing"), rowID: id, ["value": .null]) }
                try run.expect(try store.row("Thing", id), equals: [.null], "\(type) \(index) cleared")
                try store.change { try $0.update(try store.entity("Thing"), rowID: id, ["value": value]) }
                try run.expect(try store.row("Thing", id), equals: [value], "\(type) \(index) set again")
            }
        }
    } + [
        ConformanceCase("value.double.negative-zero", "−0 is stored as 0.") { run in
            for type in [AttributeType.double, .float, .date] {
                let store = try run.open(Fixtures.thing(type), type.rawValue)
                try store.insert("Thing", [[.real(-0.0)]])
                guard case .real(let value)? = try store.row("Thing", 1)?[0] else { throw run.fail("no value") }
                try run.expect(value == 0 && value.sign == .plus, "\(type) −0 came back as \(value)")
            }
        },
        ConformanceCase("value.double.nan", "A NaN is stored as a NaN, not as null.") { run in
            for type in [AttributeType.double, .float, .date] {
                let store = try run.open(Fixtures.thing(type), type.rawValue)
                try store.insert("Thing", [[.real(.nan)], [.real(-.nan)], [.null]])
                for id in 1...2 as ClosedRange<Int64> {
                    guard case .real(let value)? = try store.row("Thing", id)?[0] else {
                        throw run.fail("\(type): a NaN came back as null")
                    }
                    try run.expect(value.isNaN, "\(type): a NaN came back as \(value)")
                }
                try run.expect(try store.row("Thing", 3), equals: [.null])
            }
        },
        ConformanceCase("value.string.of-a-megabyte", "Text of one megabyte is kept unchanged.") { run in try sized(run, .string, 1 << 20)
        },
        ConformanceCase("value.string.of-ten-megabytes", "Text of ten megabytes is kept unchanged.") { run in
            try sized(run, .string, 10 << 20)
        },
        ConformanceCase("value.data.of-ten-megabytes", "Data of ten megabytes is kept unchanged.") { run in try sized(run, .data, 10 << 20)
        },
        ConformanceCase("value.string.every-scalar-block", "Text from every Unicode block is stored byte for byte.") { run in
            let store = try run.open(Fixtures.thing(.string))
            let scalars = stride(from: UInt32(0), through: 0x10_ffff, by: 257).compactMap { UnicodeScalar($0) }
            let texts = scalars.map { "<\($0)>" }
            try store.insert("Thing", texts.map { [.text($0)] })
            let found = try store.read { try $0.rows(FetchRequest(try store.entity("Thing"))) }
            for (text, row) in zip(texts, found) {
                guard case .text(let back) = row[0], Array(back.utf8) == Array(text.utf8) else {
                    throw run.fail("\(text.debugDescription) came back as \(row)")
                }
            }
        },
        ConformanceCase("value.record.of-256-fields", "An entity with the maximum number of fields works, and masks cover all of them.") {
            run in
            let schema = SchemaDescription(
                name: "Wide",
                entities: [
                    EntityDescription(
                        name: "Wide",
                        properties: (0..<FieldMask.capacity).map { number in
                            .attribute(AttributeDescription(name: "f\(number)", type: number % 3 == 0 ? .string : .int64, isOptional: true))
                        })
                ])
            let store = try run.open(schema)
            func value(_ number: Int, _ round: Int) -> Value {
                number % 3 == 0 ? .text("\(round):\(number)") : .integer(Int64(number * 10 + round))
            }
            var expected = (0..<FieldMask.capacity).map { value($0, 0) }
            try store.insert("Wide", [expected])
            try run.expect(try store.row("Wide", 1), equals: expected)
            for number in [0, 1, 62, 63, 64, 65, 127, 128, 129, 191, 192, 254, 255] {
                expected[number] = value(number, 1)
                let name = "f\(number)"
                try store.change {
                    try $0.update(try store.entity("Wide"), rowID: 1, KeyValuePairs(dictionaryLiteral: (name, expected[number])))
                }
                try run.expect(try store.row("Wide", 1), equals: expected, "after an update of \(name)")
            }
        },
        ConformanceCase("value.record.of-no-field", "An entity without attributes can have objects.") { run in
            let store = try run.open(SchemaDescription(name: "Bare", entities: [EntityDescription(name: "Bare", properties: [])]))
            try store.insert("Bare", [[], [], []])
            try run.expect(try store.ids(FetchRequest(try store.entity("Bare"))), equals: [1, 2, 3])
            try run.expect(try store.row("Bare", 2), equals: [])
            try store.change { $0.delete(try store.entity("Bare"), rowID: 2) }
            try run.expect(try store.ids(FetchRequest(try store.entity("Bare"))), equals: [1, 3])
        },
        ConformanceCase("value.record.of-every-type", "One record can hold values of all types, and of every subset of them.") { run in
            let types = AttributeType.allCases
            let schema = SchemaDescription(
                name: "All",
                entities: [
                    EntityDescription(
                        name: "All",
                        properties: types.map { .attribute(AttributeDescription(name: $0.rawValue, type: $0, isOptional: true)) })
                ])
            let store = try run.open(schema)
            let full = types.map { type in edges.first { $0.0 == type }?.1.last ?? .null }
            var rows: [[Value]] = [full, types.map { _ in .null }]
            for index in types.indices {
                rows.append(full.enumerated().map { $0.offset == index ? .null : $0.element })
                rows.append(full.enumerated().map { $0.offset == index ? $0.element : .null })
            }
            try store.insert("All", rows)
            try run.expect(try store.read { try $0.rows(FetchRequest(try store.entity("All"))) }, equals: rows)
        },
    ]

/// Boundary and special values of each type; the last one is ordinary.
let edges: [(AttributeType, [Value])] = [
    (.bool, [.integer(0), .integer(1)]), (.int8, [.integer(-128), .integer(-1), .integer(0), .integer(127)]),
    (.int16, [.integer(-32768), .integer(-1), .integer(0), .integer(32767)]),
    (.int32, [.integer(Int64(Int32.min)), .integer(-1), .integer(0), .integer(Int64(Int32.max))]),
    (
        .int64,
        [
            .integer(.min), .integer(.min + 1), .integer(-1), .integer(0), .integer(1), .integer(1 << 53 + 1), .integer(.max - 1),
            .integer(.max),
        ]
    ),
    (.uint8, [.integer(0), .integer(128), .integer(255)]), (.uint16, [.integer(0), .integer(32768), .integer(65535)]),
    (.uint32, [.integer(0), .integer(1 << 31), .integer(Int64(UInt32.max))]),
    (.uint64, [.integer(0), .integer(1), .integer(.max), .integer(.min), .integer(-1)]),  // bit patterns: 2^63 and 2^64 − 1
    (
        .float,
        [
            .real(0), .real(Double(Float.leastNonzeroMagnitude)), .real(Double(Float.greatestFiniteMagnitude)), .real(-.infinity),
            .real(.infinity),
            .real(Double(Float(0.1))),
        ]
    ),
    (
        .double,
        [
            .real(0), .real(.leastNonzeroMagnitude), .real(-.leastNonzeroMagnitude), .real(.greatestFiniteMagnitude), .real(-.infinity),
            .real(.infinity), .real(9_007_199_254_740_992), .real(0.1), .real(-1), .real(3),
        ]
    ), (.date, [.real(0), .real(-978_307_200.125), .real(-63_113_904_000), .real(252_423_993_599), .real(700_000_000.125)]),
    (.decimal, [.blob([0x80]), .blob([0x7e]), .blob([0x7f, 0x7f, 0xfe, 0xcd, 0xff]), .blob([0x81, 0x80, 1, 0x33, 0])]),
    (
        .string,
        [
            .text(""), .text(" "), .text("\u{0}"), .text("a\u{0}b"), .text("\u{0}\u{0}"), .text("e\u{301}"), .text("\u{e9}"), .text("👩‍👩‍👧‍👦🦊"),
            .text("\u{feff}"), .text("\u{fffe}\u{ffff}\u{10ffff}"), .text("'; DROP TABLE Thing; --"), .text("%_*?\\\"'"), .text("\r\n\t"),
            .text("NaN"), .text("NULL"), .text("12"), .text("plain"),
        ]
    ), (.url, [.text("about:blank"), .text("https://example.com/ä?q=1#x")]), (.json, [.text("null"), .text("[]"), .text("{\"a\":[1,2]}")]),
    (.data, [.blob([]), .blob([0]), .blob(Array(0...255)), .blob([UInt8](repeating: 0, count: 4096)), .blob([1, 2, 3])]),
    (.uuid, [.blob([UInt8](repeating: 0, count: 16)), .blob([UInt8](repeating: 255, count: 16)), .blob(Array(1...16))]),
]

private func sized(_ run: ConformanceRun, _ type: AttributeType, _ size: Int) throws {
    let store = try run.open(Fixtures.thing(type, isIndexed: false))
    // A period that is not a power of two, so that a misplaced piece is detected.
    let period = (0..<65_521).map { UInt8(truncatingIfNeeded: 97 + ($0 * 31 ^ $0 >> 8) % 26) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(size + period.count)
    while bytes.count < size { bytes += period }
    bytes.removeLast(bytes.count - size)
    let value: Value = type == .data ? .blob(bytes) : .text(String(decoding: bytes, as: UTF8.self))
    try store.insert("Thing", [[.null], [value], [.null]])
    try run.expect(try store.row("Thing", 2)?[0] == value, "\(size) bytes came back changed")
    try run.expect(
        try store.read { try $0.rows(FetchRequest(try store.entity("Thing")))[1][0] } == value, "\(size) bytes came back changed in a walk")
}
