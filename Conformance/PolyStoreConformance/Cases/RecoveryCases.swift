import PolyStoreBackend

/// Cases for errors of a backend after which a transaction may be repeated, or not.
let recoveryCases: [ConformanceCase] = [
    ConformanceCase(
        "recovery.request.is-permanent",
        "A change set that cannot be applied throws a permanent error, so that it is not applied again in vain."
    ) { run in
        let store = try run.open(Fixtures.company)
        try store.insert("Person", [Fixtures.person("a", 1)])
        let person = try store.entity("Person")
        let foreign = try ResolvedSchema(Fixtures.thing(.int64))
        let failures: [(String, StoreError.Code, ChangeSet, (ChangeSet) throws -> Void)] = [
            ("a taken value", .constraint, ChangeSet(store.schema), { try $0.insert(person, rowID: 2, Fixtures.person("a", 2)) }),
            ("a taken id", .constraint, ChangeSet(store.schema), { try $0.insert(person, rowID: 1, Fixtures.person("b", 2)) }),
            ("a missing object", .notFound, ChangeSet(store.schema), { $0.delete(person, rowID: 7) }),
            (
                "another schema", .misuse, ChangeSet(foreign),
                { changes in if let thing = foreign.entity(named: "Thing") { changes.delete(thing, rowID: 1) } }
            ),
        ]
        try store.write { transaction in
            for (what, code, changes, fill) in failures {
                try fill(changes)
                let error = try run.expectError(code, what) { try transaction.apply(changes) }
                try run.expect(error.recovery, equals: .permanent, what)
            }
        }
    },
    ConformanceCase(
        "recovery.commit.not-serializable",
        "A commit that is refused because of a concurrent transaction throws a retryable error, writes nothing, and succeeds when it is repeated.",
        needsFaults: true
    ) { run in
        let store = try run.open(Fixtures.company)
        try store.insert("Person", [Fixtures.person("a", 1)])
        let person = try store.entity("Person")
        run.failNextCommit(.notSerializable)
        let transaction = try store.backend.beginWrite()
        try transaction.apply(store.inserting(person, 2, "b"))
        do {
            _ = try transaction.commit(.full)
            throw run.fail("the commit did not fail")
        } catch let error as StoreError { try run.expect(error.recovery, equals: .retryable, "commit") }
        transaction.rollback()
        try run.expect(try store.ids(FetchRequest(person)), equals: [1], "after the failure")
        try store.write { try $0.apply(store.inserting(person, 2, "b")) }
        try run.expect(try store.ids(FetchRequest(person)), equals: [1, 2], "after the repetition")
    },
    ConformanceCase(
        "recovery.commit.response-lost",
        "A commit whose response is lost throws commitOutcomeUnknown, and the outcome that the store then reports is that of the commit.",
        needsFaults: true
    ) { run in
        for isCommitted in [true, false] {
            let what = isCommitted ? "committed" : "not committed"
            let store = try run.open(Fixtures.company, what)
            try store.insert("Person", [Fixtures.person("a", 1)])
            let person = try store.entity("Person")
            run.failNextCommit(.responseLost(isCommitted: isCommitted), what)
            let transaction = try store.backend.beginWrite()
            try transaction.apply(store.inserting(person, 2, "b"))
            do {
                _ = try transaction.commit(.full)
                throw run.fail("\(what): the commit did not fail")
            } catch let error as StoreError { try run.expect(error.recovery, equals: .commitOutcomeUnknown, what) }
            let outcome = try transaction.commitOutcome()
            transaction.rollback()
            let (ids, version) = try store.read { (try $0.ids(FetchRequest(person)), try $0.version) }
            try run.expect(ids, equals: isCommitted ? [1, 2] : [1], what)
            if outcome != .unknown { try run.expect(outcome, equals: isCommitted ? .committed(version: version) : .notCommitted, what) }
        }
    },
]

extension TestStore {
    /// Returns a change set that inserts a person.
    func inserting(_ person: Entity, _ rowID: Int64, _ email: String) throws -> ChangeSet {
        let changes = ChangeSet(schema)
        try changes.insert(person, rowID: rowID, Fixtures.person(email, rowID))
        return changes
    }
}
