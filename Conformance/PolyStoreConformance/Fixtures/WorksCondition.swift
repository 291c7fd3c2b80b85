import PolyStoreBackend

/// A condition and its three-valued result.
struct WorksCondition: Sendable {
    let id: String
    let statement: String
    let entity: String
    let predicate: @Sendable (WorksStore) throws -> QueryPredicate
    let holds: @Sendable (Works, Int64) -> Bool?

    init(
        _ id: String, _ statement: String, of entity: String = "Worker",
        _ predicate: @escaping @Sendable (WorksStore) throws -> QueryPredicate,
        _ holds: @escaping @Sendable (Works, Int64) -> Bool?
    ) {
        self.id = id
        self.statement = statement
        self.entity = entity
        self.predicate = predicate
        self.holds = holds
    }

    func selected(_ works: Works) -> [Int64] { works.ids(entity).filter { holds(works, $0) == true } }
    func rejected(_ works: Works) -> [Int64] { works.ids(entity).filter { holds(works, $0) == false } }

    /// Checks the objects that the condition selects, and those that its negation selects.
    func check(_ run: ConformanceRun) throws {
        let works = Works.start
        let store = try works.open(run)
        let predicate = try predicate(store)
        let (selected, rejected) = (selected(works), rejected(works))
        try run.expect(try store.ids(entity, predicate), equals: selected, "\(predicate)")
        try run.expect(try store.ids(entity, .not(predicate)), equals: rejected, "NOT \(predicate)")
        try run.expect(try store.ids(entity, .not(.not(predicate))), equals: selected, "NOT NOT \(predicate)")
        try run.expect(
            try store.ids(entity, .not(.or([predicate, .not(predicate)]))), equals: [], "neither true nor false of \(predicate)")
        try run.expect(
            try store.ids(entity, .or([predicate, .not(predicate)])), equals: (selected + rejected).sorted(), "known of \(predicate)")
    }

    var asCase: ConformanceCase { ConformanceCase(id, statement) { run in try check(run) } }
}
