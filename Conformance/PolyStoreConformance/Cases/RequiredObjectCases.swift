import PolyStoreBackend

/// Objects that must exist when a change set has been applied.
let requiredObjectCases: [ConformanceCase] = [
    ConformanceCase(
        "apply.required.exist",
        "A change set is accepted if each of its required objects is in the store, or is inserted by it or by one before it.",
        requires: [.requiredObjects]
    ) { run in
        let (store, person, department) = try start(run)
        let writer = try store.backend.beginWrite()
        let inserting = ChangeSet(store.schema)
        try inserting.insert(department, rowID: 2, [.text("new")])
        let sets = [
            try store.hiring(2, in: 1), inserting, try store.hiring(3, in: 2),
            try store.hiring(4, in: 3) { try $0.insert(department, rowID: 3, [.text("own")]) },
            try store.hiring(5, in: 3) { $0.delete(person, rowID: 1) },
        ]
        try run.expect(try writer.apply(sets, committing: nil).errors, equals: [nil, nil, nil, nil, nil])
        try writer.apply(store.hiring(6, in: 3))
        _ = try writer.commit(.full)
        try run.expect(try store.ids(FetchRequest(person)), equals: [2, 3, 4, 5, 6])
    },
    ConformanceCase(
        "apply.required.missing",
        "A change set with a required object that is not in the store is refused with the relationship that leads to it, and nothing of it is applied.",
        requires: [.requiredObjects]
    ) { run in
        let (store, person, department) = try start(run)
        for commits in [false, true] {
            let writer = try store.backend.beginWrite()
            let removing = ChangeSet(store.schema)
            removing.delete(department, rowID: 1)
            let sets = [
                try store.hiring(2, in: 99), try store.hiring(3, in: 1),
                try store.hiring(4, in: 1) { $0.delete(department, rowID: 1) }, removing, try store.hiring(5, in: 1),
            ]
            let results = try writer.apply(sets, committing: commits ? .full : nil)
            try run.expect(results.errors.map { $0?.code }, equals: [.constraint, nil, .constraint, nil, .constraint])
            try run.expect(results.version, equals: nil, "the returned version")
            let error = results.errors[0]
            try run.expect([error?.entity, error?.attribute], equals: ["Person", "department"])
            try run.expect([error?.rowID, results.errors[2]?.rowID], equals: [2, 4])
            try run.expect(error?.violations.map(\.rule), equals: [.reference])
            try run.expect(error?.message.contains("Department 99") ?? false, "the message names the missing object")
            try run.expect(try writer.ids(FetchRequest(person)), equals: [1, 3], "in the transaction")
            writer.rollback()
        }
        try run.expect(try store.ids(FetchRequest(person)), equals: [1])
    },
    ConformanceCase(
        "apply.required.missing-alone",
        "A required object that is missing refuses a change set that is applied alone, all missing ones are named, and the transaction continues.",
        requires: [.requiredObjects]
    ) { run in
        let (store, person, department) = try start(run)
        let writer = try store.backend.beginWrite()
        let changes = try store.hiring(2, in: 99)
        try changes.update(person, rowID: 1, ["age": .integer(50)])
        for (source, target) in [(1, 98), (2, 1), (1, 98)] as [(Int64, Int64)] {
            changes.require(try store.membership(of: source, in: target))
        }
        let error = try run.expectError(.constraint) { try writer.apply(changes) }
        try run.expect(Set(error.violations.map(\.rowID)), equals: [1, 2])
        try run.expect(error.recovery, equals: .permanent)
        try run.expect(try writer.ids(FetchRequest(person)), equals: [1])
        try run.expect(try writer.row(person, 1), equals: Fixtures.person("p1", 1))
        // As if a position in a list were written of the missing object.
        let updating = try store.hiring(2, in: 99) { try $0.update(department, rowID: 99, ["title": .text("late")]) }
        try run.expect(try run.expectError(.constraint) { try writer.apply(updating) }.violations.map(\.rule), equals: [.reference])
        try writer.apply(store.hiring(2, in: 1) { try $0.insert(department, rowID: 99, [.text("late")]) })
        try writer.apply(store.hiring(3, in: 99))
        _ = try writer.commit(.full)
        try run.expect(try store.ids(FetchRequest(person)), equals: [1, 2, 3])
    },
]

/// Opens a store with one person and one department.
private func start(_ run: ConformanceRun) throws -> (TestStore, Entity, Entity) {
    let store = try run.open(Fixtures.company)
    try store.insert("Person", [Fixtures.person("p1", 1)])
    try store.insert("Department", [[.text("first")]])
    return (store, try store.entity("Person"), try store.entity("Department"))
}

extension TestStore {
    /// Returns the requirement of a person's department.
    fileprivate func membership(of person: Int64, in department: Int64) throws -> ChangeSet.RequiredObject {
        let owner = try entity("Person")
        guard let relationship = owner.relationships.first(where: { $0.name == "department" }) else {
            throw run.fail("the case names an unknown relationship")
        }
        return ChangeSet.RequiredObject(
            entity: try entity("Department").index, rowID: department, owner: owner.index, relationship: relationship.index,
            ownerRowID: person)
    }

    /// Returns a change set that inserts a person of a department, which it requires.
    fileprivate func hiring(
        _ person: Int64, in department: Int64, _ more: (ChangeSet) throws -> Void = { _ in }
    ) throws -> ChangeSet {
        let changes = ChangeSet(schema)
        try changes.insert(try entity("Person"), rowID: person, Fixtures.person("p\(person)", person, department: department))
        changes.require(try membership(of: person, in: department))
        try more(changes)
        return changes
    }
}
