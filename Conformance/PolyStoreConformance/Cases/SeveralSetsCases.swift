import PolyStoreBackend

/// Several change sets in one call, with or without the commit.
let severalSetsCases: [ConformanceCase] = [
    ConformanceCase(
        "apply.several.with-the-commit", "Several change sets that are applied with a durability are committed together, as one version."
    ) { run in
        let (store, person) = try start(run)
        let before = try store.read { try $0.version }
        let transaction = try store.backend.beginWrite()
        let results = try transaction.apply(
            try ["b", "c", "d"].enumerated().map { try store.inserting(person, Int64($0 + 2), $1) }, committing: .full)
        try run.expect(results.errors, equals: [nil, nil, nil])
        let (ids, version) = try store.read { (try $0.ids(FetchRequest(person)), try $0.version) }
        try run.expect(ids, equals: [1, 2, 3, 4])
        try run.expect(version > before, "the commit counts")
        try run.expect(results.version, equals: version, "the returned version")
        try run.expectError(.closed, "after the commit") { try transaction.apply(store.inserting(person, 9, "z")) }
        transaction.rollback()
        try run.expect(try store.ids(FetchRequest(person)), equals: [1, 2, 3, 4], "after a rollback that comes too late")
    },
    ConformanceCase(
        "apply.several.without-the-commit",
        "Several change sets that are applied without a durability are read by their transaction, committed later, or rolled back."
    ) { run in
        let (store, person) = try start(run)
        for commits in [false, true] {
            let transaction = try store.backend.beginWrite()
            let results = try transaction.apply(
                [try store.inserting(person, 2, "b"), try store.inserting(person, 3, "c")], committing: nil)
            try run.expect(results.errors, equals: [nil, nil])
            try run.expect(results.version, equals: nil, "the returned version")
            try run.expect(try transaction.ids(FetchRequest(person)), equals: [1, 2, 3], "in the transaction")
            try run.expect(try store.ids(FetchRequest(person)), equals: [1], "in a snapshot beside it")
            if commits { _ = try transaction.commit(.full) } else { transaction.rollback() }
            try run.expect(try store.ids(FetchRequest(person)), equals: commits ? [1, 2, 3] : [1])
        }
    },
    ConformanceCase(
        "apply.several.refused-alone",
        "A change set that is refused among several is not applied and stops the commit; the others are applied, each has a result, and the transaction continues."
    ) { run in
        for (position, durability) in [0, 1, 2, 3].flatMap({ [($0, nil), ($0, .full)] }) as [(Int, Durability?)] {
            let what = "position \(position), \(durability == nil ? "without" : "with") a durability"
            let (store, person) = try start(run, what)
            let transaction = try store.backend.beginWrite()
            var sets = try ["b", "c", "d"].enumerated().map { try store.inserting(person, Int64($0 + 2), $1) }
            let refused = ChangeSet(store.schema)
            try refused.update(person, rowID: 1, ["age": .integer(99)])
            try refused.insert(person, rowID: 8, Fixtures.person("lost", 8))
            try refused.insert(person, rowID: 9, Fixtures.person("a", 9))
            sets.insert(refused, at: position)
            let results = try transaction.apply(sets, committing: durability)
            try run.expect(
                results.errors.map { $0?.code }, equals: (0..<4).map { $0 == position ? StoreError.Code.constraint : nil }, what)
            let error = results.errors[position]
            try run.expect(error?.attribute, equals: "email", what)
            try run.expect(error?.recovery, equals: .permanent, what)
            try run.expect(results.version, equals: nil, "\(what): the returned version")
            try run.expect(try transaction.ids(FetchRequest(person)), equals: [1, 2, 3, 4], "\(what): in the transaction")
            try run.expect(try transaction.row(person, 1), equals: Fixtures.person("a", 1), what)
            try run.expect(try store.ids(FetchRequest(person)), equals: [1], "\(what): in a snapshot beside it")
            try transaction.apply(store.inserting(person, 5, "e"))
            _ = try transaction.commit(.full)
            try run.expect(try store.ids(FetchRequest(person)), equals: [1, 2, 3, 4, 5], "\(what): after the commit")
        }
    },
    ConformanceCase(
        "apply.several.in-order",
        "Each of several change sets meets the changes of those before it: their objects, and the values they take and release."
    ) { run in
        let (store, person) = try start(run)
        let transaction = try store.backend.beginWrite()
        let releasing = ChangeSet(store.schema)
        releasing.delete(person, rowID: 1)
        let updating = ChangeSet(store.schema)
        try updating.update(person, rowID: 2, ["age": .integer(50)])
        let results = try transaction.apply(
            [
                try store.inserting(person, 2, "a"), releasing, try store.inserting(person, 3, "a"), try store.inserting(person, 4, "a"),
                updating, try store.inserting(person, 2, "b"), try store.inserting(person, 2, "c"),
            ], committing: nil)
        try run.expect(
            results.errors.map { $0?.code },
            equals: [.constraint, nil, nil, .constraint, .notFound, nil, .constraint])
        _ = try transaction.commit(.full)
        try run.expect(try store.read { try $0.rows(FetchRequest(person)) }, equals: [Fixtures.person("b", 2), Fixtures.person("a", 3)])
    },
    ConformanceCase(
        "apply.several.all-refused",
        "If every one of several change sets is refused, the transaction continues and its commit writes nothing of them."
    ) { run in
        let (store, person) = try start(run)
        let transaction = try store.backend.beginWrite()
        let results = try transaction.apply(
            [try store.inserting(person, 2, "a"), try store.inserting(person, 1, "b")], committing: .full)
        try run.expect(results.errors.map { $0?.code }, equals: [.constraint, .constraint])
        try run.expect(results.version, equals: nil, "the returned version")
        try transaction.apply(store.inserting(person, 2, "b"))
        _ = try transaction.commit(.full)
        try run.expect(try store.ids(FetchRequest(person)), equals: [1, 2])
    },
    ConformanceCase(
        "recovery.commit.several-sets",
        "A commit together with several change sets fails as a commit alone does: not serializable, or with an unknown outcome that the store then knows.",
        needsFaults: true
    ) { run in
        for fault in [CommitFault.notSerializable, .responseLost(isCommitted: true), .responseLost(isCommitted: false)] {
            let what = "\(fault)"
            let store = try run.open(Fixtures.company, what)
            let person = try store.entity("Person")
            try store.insert("Person", [Fixtures.person("a", 1)])
            run.failNextCommit(fault, what)
            let transaction = try store.backend.beginWrite()
            do {
                _ = try transaction.apply(
                    [try store.inserting(person, 2, "b"), try store.inserting(person, 3, "c")], committing: .full)
                throw run.fail("\(what): the commit did not fail")
            } catch let error as StoreError {
                let isLost = if case .notSerializable = fault { false } else { true }
                try run.expect(error.recovery, equals: isLost ? .commitOutcomeUnknown : .retryable, what)
            }
            let isCommitted = if case .responseLost(true) = fault { true } else { false }
            let outcome = try transaction.commitOutcome()
            transaction.rollback()
            let (ids, version) = try store.read { (try $0.ids(FetchRequest(person)), try $0.version) }
            try run.expect(ids, equals: isCommitted ? [1, 2, 3] : [1], what)
            if outcome != .unknown { try run.expect(outcome, equals: isCommitted ? .committed(version: version) : .notCommitted, what) }
        }
    },
]

/// Opens a store with one person.
private func start(_ run: ConformanceRun, _ what: String = "company") throws -> (TestStore, Entity) {
    let store = try run.open(Fixtures.company, what)
    try store.insert("Person", [Fixtures.person("a", 1)])
    return (store, try store.entity("Person"))
}
