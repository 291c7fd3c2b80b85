import PolyStoreBackend

/// A store that is reset for another model while others have it open.
let resetCases: [ConformanceCase] = [
    ConformanceCase(
        "opening.reset.is-noticed",
        "A store that is open during a reset for another model throws differentStoreAtURL afterwards and writes nothing into the new one; "
            + "or the reset throws busy.",
        requires: [.persistence]
    ) { run in
        let old = try run.open(Fruit.schema("Apple"))
        try old.insert("Apple", [[.text("a")], [.text("b")]])
        let reader = try old.backend.beginRead()
        let new: TestStore
        do { new = try run.open(Fruit.schema("Banana")) { $0.resettingOnModelMismatch() } } catch let error as StoreError {
            try run.expect(error.code, equals: .busy, "the reset")
            reader.end()
            try old.insert("Apple", [[.text("c")]], from: 3)
            try run.expect(try old.ids(FetchRequest(try old.entity("Apple"))), equals: [1, 2, 3])
            return
        }
        do { try run.expect(try reader.ids(FetchRequest(try old.entity("Apple"))), equals: [1, 2], "a reader from before") } catch let error
            as StoreError
        { try run.expect([.closed, .differentStoreAtURL].contains(error.code), "a reader from before: \(error)") }
        reader.end()
        try refuses(run, old, "Apple")
        try run.expect(try new.ids(FetchRequest(try new.entity("Banana"))), equals: [])
        try new.insert("Banana", [[.text("yellow")]])
        // As many commits as before, and one more: the version does not reveal the reset.
        try refuses(run, old, "Apple")
        try new.insert("Banana", [[.text("green")]], from: 2)
        try refuses(run, old, "Apple")
        try old.backend.close()
        try run.expect(try new.ids(FetchRequest(try new.entity("Banana"))), equals: [1, 2])
        try run.expect(try new.read { try $0.rows(FetchRequest(try new.entity("Banana"))) }, equals: [[.text("yellow")], [.text("green")]])
        try run.expect(new.backend.metadata.storeID != old.backend.metadata.storeID, "the id is another one")
        try new.backend.close()
        let again = try run.open(Fruit.schema("Banana"))
        try run.expect(try again.ids(FetchRequest(try again.entity("Banana"))), equals: [1, 2], "after reopening")
        if run.target.capabilities.contains(.verification) { try run.expect(try again.backend.verify(), equals: []) }
    },
    ConformanceCase(
        "opening.reset.back-again",
        "A store that was reset twice, and has its first model again, still differs from the store opened before the resets.",
        requires: [.persistence]
    ) { run in
        let first = try run.open(Fruit.schema("Apple"))
        try first.insert("Apple", [[.text("old")]])
        do {
            let between = try run.open(Fruit.schema("Banana")) { $0.resettingOnModelMismatch() }
            try between.insert("Banana", [[.text("yellow")]])
            try between.backend.close()
        } catch let error as StoreError where error.code == .busy {
            return
        }
        let last = try run.open(Fruit.schema("Apple")) { $0.resettingOnModelMismatch() }
        try last.insert("Apple", [[.text("new")]])
        try refuses(run, first, "Apple")
        try first.backend.close()
        try run.expect(try last.read { try $0.rows(FetchRequest(try last.entity("Apple"))) }, equals: [[.text("new")]])
    },
    ConformanceCase(
        "opening.reset.many-at-once",
        "Of many concurrent openings with a new model, one resets the store; commits of all of them are kept.",
        requires: [.persistence]
    ) { run in
        for round in 0..<4 {
            let (before, after) = ("Old\(round)", "New\(round)")
            let old = try run.open(Fruit.schema(before)) { $0.resettingOnModelMismatch() }
            try old.insert(before, [[.text("old")]])
            try old.backend.close()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for id in 1...6 as ClosedRange<Int64> {
                    group.addTask {
                        try await onThread {
                            let store = try run.open(Fruit.schema(after)) { $0.resettingOnModelMismatch() }
                            try store.insert(after, [[.text("fruit \(id)")]], from: id)
                            try store.backend.close()
                        }
                    }
                }
                try await group.waitForAll()
            }
            let store = try run.open(Fruit.schema(after))
            try run.expect(try store.ids(FetchRequest(try store.entity(after))), equals: Array(1...6), "round \(round)")
            try store.backend.close()
        }
    },
]

private enum Fruit {
    static func schema(_ name: String) -> SchemaDescription {
        SchemaDescription(
            name: name,
            entities: [
                EntityDescription(name: name, properties: [.attribute(AttributeDescription(name: "name", type: .string, isIndexed: true))])
            ])
    }
}

/// Checks that neither reads nor writes can begin.
private func refuses(_ run: ConformanceRun, _ store: TestStore, _ entity: String) throws {
    try run.expectError(.differentStoreAtURL, "reading") { try store.read { try $0.ids(FetchRequest(try store.entity(entity))) } }
    try run.expectError(.differentStoreAtURL, "writing") { try store.insert(entity, [[.text("lost")]], from: 9) }
}

extension TestStore {
    /// Inserts rows with consecutive ids.
    fileprivate func insert(_ name: String, _ rows: [[Value]], from first: Int64) throws {
        let entity = try entity(name)
        try change { changes in
            for (index, row) in rows.enumerated() { try changes.insert(entity, rowID: first + Int64(index), row) }
        }
    }
}
