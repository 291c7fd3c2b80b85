import PolyStoreBackend

/// The store of ``Works``, with shorthands for conditions.
struct WorksStore: Sendable {
    let store: TestStore
    private let entities: [String: Entity]

    init(_ store: TestStore) throws {
        self.store = store
        entities = ["Worker": try store.entity("Worker"), "Team": try store.entity("Team"), "Club": try store.entity("Club")]
    }

    /// Returns the field of a path: "Worker.age", or "age" for a worker's field.
    func field(_ path: String) throws -> FieldReference {
        let parts = path.split(separator: ".").map(String.init)
        return parts.last == "id" ? .objectID : try store.field(parts.count > 1 ? parts[0] : "Worker", parts[parts.count - 1])
    }
    func value(_ path: String) throws -> QueryExpression { .field(try field(path)) }

    func reference(_ path: String) throws -> RelationshipReference {
        let parts = path.split(separator: ".").map(String.init)
        return RelationshipReference(
            try store.relationship(parts.count > 1 ? parts[0] : "Worker", parts[parts.count - 1]), in: store.schema)
    }

    func compare(_ path: String, _ comparison: ComparisonOperator, _ value: Value) throws -> QueryPredicate {
        .compare(try field(path), comparison, value)
    }
    func any(_ path: String, _ predicate: QueryPredicate) throws -> QueryPredicate { .related(try reference(path), .any, predicate) }
    func all(_ path: String, _ predicate: QueryPredicate) throws -> QueryPredicate { .related(try reference(path), .all, predicate) }
    func one(_ path: String, _ predicate: QueryPredicate) throws -> QueryPredicate { .related(try reference(path), .one, predicate) }
    func related(_ path: String, _ inner: QueryExpression) throws -> QueryExpression { .related(try reference(path), inner) }
    func count(_ path: String, where predicate: QueryPredicate = .all) throws -> QueryExpression {
        .count(try reference(path), where: predicate)
    }

    func request(_ entity: String, _ predicate: QueryPredicate) throws -> FetchRequest {
        FetchRequest(try store.entity(entity), predicate: predicate)
    }
    func ids(_ entity: String, _ predicate: QueryPredicate) throws -> [Int64] { try store.ids(try request(entity, predicate)) }
}
