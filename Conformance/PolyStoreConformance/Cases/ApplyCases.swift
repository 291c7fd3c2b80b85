import PolyStoreBackend

/// Change sets that fail within a transaction that continues.
let applyCases: [ConformanceCase] =
    violations.map { violation in
        ConformanceCase(
            "apply.failed.\(violation.name)",
            "After \(violation.what) the transaction continues: earlier change sets stay, and later ones are applied."
        ) { run in
            let (store, person) = try start(run)
            let version = try store.write { transaction in
                try apply(store, transaction) { try $0.insert(person, rowID: 10, Fixtures.person("before", 10)) }
                for attempt in 0..<3 {
                    let error = try run.expectError(violation.code, "attempt \(attempt)") {
                        try apply(store, transaction) { changes in
                            try changes.insert(person, rowID: 11, Fixtures.person("lost", 11))
                            try changes.update(person, rowID: 1, ["age": .integer(99)])
                            try violation.fail(changes, person)
                            changes.delete(person, rowID: 3)
                        }
                    }
                    try run.expect(error.entity, equals: "Person", "attempt \(attempt)")
                    try run.expect(try transaction.ids(FetchRequest(person)), equals: [1, 2, 3, 10], "attempt \(attempt)")
                    try run.expect(try transaction.row(person, 1), equals: Fixtures.person("a", 1), "attempt \(attempt)")
                }
                try apply(store, transaction) { changes in
                    try changes.insert(person, rowID: 12, Fixtures.person("after", 12))
                    try changes.update(person, rowID: 10, ["age": .integer(100)])
                }
                return try transaction.version
            }
            try run.expect(try store.ids(FetchRequest(person)), equals: [1, 2, 3, 10, 12])
            try run.expect(try store.row("Person", 10), equals: Fixtures.person("before", 100))
            try run.expect(try store.ids(try store.request("Person", "email", .equal, .text("lost"))), equals: [])
            try run.expect(try store.read { try $0.version } > version, "the commit counts")
            if run.target.capabilities.contains(.verification) { try run.expect(try store.backend.verify(), equals: []) }
        }
    } + [
        ConformanceCase("apply.failed.then-rolled-back", "A rollback after failures undoes the applied change sets too.") { run in
            let (store, person) = try start(run)
            let transaction = try store.backend.beginWrite()
            try apply(store, transaction) { try $0.update(person, rowID: 1, ["email": .text("z")]) }
            try run.expectError(.notFound) { try apply(store, transaction) { $0.delete(person, rowID: 99) } }
            try apply(store, transaction) { $0.delete(person, rowID: 2) }
            transaction.rollback()
            try run.expect(
                try store.read { try $0.rows(FetchRequest(person)) },
                equals: ["a", "b", "c"].enumerated().map { Fixtures.person($1, Int64($0 + 1)) })
        },
        ConformanceCase(
            "apply.failed.values-are-as-before",
            "After a failed change set, its values are free in the transaction, and those that it released are taken."
        ) {
            run in
            let (store, person) = try start(run)
            try store.write { transaction in
                try run.expectError(.notFound) {
                    try apply(store, transaction) { changes in
                        try changes.update(person, rowID: 1, ["email": .text("new")])
                        changes.delete(person, rowID: 2)
                        changes.delete(person, rowID: 99)
                    }
                }
                for taken in ["a", "b"] {
                    try run.expectError(.constraint, taken) {
                        try apply(store, transaction) { try $0.insert(person, rowID: 20, Fixtures.person(taken, 1)) }
                    }
                }
                try apply(store, transaction) { try $0.insert(person, rowID: 20, Fixtures.person("new", 1)) }
            }
            try run.expect(try store.ids(try store.request("Person", "email", .equal, .text("new"))), equals: [20])
            try run.expect(try store.ids(try store.request("Person", "email", .equal, .text("a"))), equals: [1])
        },
        ConformanceCase("apply.failed.and-tried-again", "A failed change set can be applied after the conflicting values are removed.") {
            run in
            let (store, person) = try start(run)
            let wanted = ChangeSet(store.schema)
            try wanted.insert(person, rowID: 10, Fixtures.person("c", 10))
            try wanted.update(person, rowID: 2, ["email": .text("bb")])
            try store.write { transaction in
                try run.expectError(.constraint) { try transaction.apply(wanted) }
                try apply(store, transaction) { $0.delete(person, rowID: 3) }
                try transaction.apply(wanted)
                try run.expectError(.constraint, "once more") { try transaction.apply(wanted) }
            }
            try run.expect(
                try store.read { try $0.rows(FetchRequest(person)).map { $0[0] } }, equals: [.text("a"), .text("bb"), .text("c")])
        },
        ConformanceCase("apply.failed.swap-and-then-right", "A failed exchange does not affect a valid one in the same transaction.") {
            run in
            let (store, person) = try start(run)
            try store.write { transaction in
                try run.expectError(.constraint) {
                    try apply(store, transaction) { changes in
                        try changes.update(person, rowID: 1, ["email": .text("b")])
                        try changes.update(person, rowID: 2, ["email": .text("c")])
                    }
                }
                try run.expectError(.notFound) {
                    try apply(store, transaction) { changes in
                        try changes.update(person, rowID: 1, ["email": .text("b")])
                        try changes.update(person, rowID: 2, ["email": .text("a")])
                        try changes.update(person, rowID: 99, ["email": .text("c")])
                    }
                }
                try apply(store, transaction) { changes in
                    try changes.update(person, rowID: 1, ["email": .text("b")])
                    try changes.update(person, rowID: 2, ["email": .text("c")])
                    try changes.update(person, rowID: 3, ["email": .text("a")])
                }
            }
            try run.expect(
                try store.read { try $0.rows(FetchRequest(person)).map { $0[0] } }, equals: [.text("b"), .text("c"), .text("a")])
        },
        ConformanceCase(
            "apply.many.every-third-fails",
            "Of hundreds of change sets in one transaction, failing ones have no effect and all others take effect."
        ) { run in
            let (store, person) = try start(run)
            var expected: [Int64] = [1, 2, 3]
            try store.write { transaction in
                for number in 100..<400 as Range<Int64> {
                    let changes = ChangeSet(store.schema)
                    try changes.insert(person, rowID: number, Fixtures.person("n\(number)", number))
                    switch number % 9 {
                    case 0: changes.delete(person, rowID: 5)
                    case 3: try changes.insert(person, rowID: number + 1000, Fixtures.person("a", 1))
                    case 6: try changes.update(person, rowID: 1, ["age": .null])
                    default: expected.append(number)
                    }
                    do {
                        try transaction.apply(changes)
                        try run.expect(number % 3 != 0, "\(number) should have failed")
                    } catch let error as StoreError {
                        try run.expect(error.code, equals: number % 9 == 0 ? .notFound : .constraint, "\(number)")
                    }
                }
                try run.expect(try transaction.ids(FetchRequest(person)), equals: expected, "inside")
            }
            try run.expect(try store.ids(FetchRequest(person)), equals: expected)
            try run.expect(try store.row("Person", 1), equals: Fixtures.person("a", 1))
        },
    ]

private struct Violation: Sendable {
    let name: String
    let what: String
    let code: StoreError.Code
    let fail: @Sendable (ChangeSet, Entity) throws -> Void
}

private let violations: [Violation] = [
    Violation(name: "unique-insert", what: "an insert of a value that is taken", code: .constraint) {
        try $0.insert($1, rowID: 50, Fixtures.person("b", 1))
    },
    Violation(name: "unique-update", what: "an update to a value that is taken", code: .constraint) {
        try $0.update($1, rowID: 2, ["email": .text("before")])
    },
    Violation(name: "taken-id", what: "an insert of an id that is taken", code: .constraint) {
        try $0.insert($1, rowID: 10, Fixtures.person("other", 1))
    },
    Violation(name: "missing-update", what: "an update of an object that is not there", code: .notFound) {
        try $0.update($1, rowID: 77, ["age": .integer(1)])
    },
    Violation(name: "missing-delete", what: "a deletion of an object that is not there", code: .notFound) { $0.delete($1, rowID: 77) },
    Violation(name: "null-insert", what: "an insert without a required value", code: .constraint) { changes, person in
        try changes.insert(person, rowID: 50) { try $0.set(person.fields[1], .integer(1)) }
    },
    Violation(name: "null-update", what: "an update of a required value to null", code: .constraint) {
        try $0.update($1, rowID: 2, ["email": .null])
    },
]

/// Three people: a, b, c.
private func start(_ run: ConformanceRun) throws -> (TestStore, Entity) {
    let store = try run.open(Fixtures.company)
    try store.insert("Person", ["a", "b", "c"].enumerated().map { Fixtures.person($1, Int64($0 + 1)) })
    return (store, try store.entity("Person"))
}

private func apply(_ store: TestStore, _ transaction: any WriteTransaction, _ body: (ChangeSet) throws -> Void) throws {
    let changes = ChangeSet(store.schema)
    try body(changes)
    try transaction.apply(changes)
}
