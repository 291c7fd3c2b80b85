import PolyStoreBackend

/// The schemas of the cases, built without macros.
enum Fixtures {
    /// Person(email unique, age indexed, nickname, score, department) ⇄ Department(title), friends with friends, Department → tags.
    static let company = SchemaDescription(
        name: "Company",
        entities: [
            EntityDescription(
                name: "Person",
                properties: [
                    .attribute(AttributeDescription(name: "email", type: .string, isUnique: true)),
                    .attribute(AttributeDescription(name: "age", type: .int64, isIndexed: true)),
                    .attribute(AttributeDescription(name: "nickname", type: .string, isOptional: true)),
                    .attribute(AttributeDescription(name: "score", type: .double, isOptional: true)),
                    .relationship(
                        RelationshipDescription(name: "department", destination: "Department", isToMany: false, inverse: "people")),
                    .relationship(RelationshipDescription(name: "friends", destination: "Person", isToMany: true, inverse: "friends")),
                    .relationship(RelationshipDescription(name: "clubs", destination: "Club", isToMany: true, inverse: "members")),
                ]),
            EntityDescription(
                name: "Department",
                properties: [
                    .attribute(AttributeDescription(name: "title", type: .string)),
                    .relationship(RelationshipDescription(name: "people", destination: "Person", isToMany: true)),
                    .relationship(RelationshipDescription(name: "tags", destination: "Club", isToMany: true)),
                ]),
            EntityDescription(
                name: "Club",
                properties: [
                    .attribute(AttributeDescription(name: "name", type: .string)),
                    .relationship(RelationshipDescription(name: "members", destination: "Person", isToMany: true)),
                ]),
        ])

    /// A row of Person: email, age, nickname, score, department.
    static func person(
        _ email: String, _ age: Int64, nickname: String? = nil, score: Double? = nil, department: Int64? = nil
    ) -> [Value] {
        [
            .text(email), .integer(age), nickname.map { .text($0) } ?? .null, score.map { .real($0) } ?? .null,
            department.map { .integer($0) } ?? .null,
        ]
    }

    /// Returns a schema with one entity "Thing" and one optional attribute "value" of a type. It is indexed by default, so that the order of the index is
    /// tested too.
    static func thing(_ type: AttributeType, isIndexed: Bool = true, isUnique: Bool = false) -> SchemaDescription {
        SchemaDescription(
            name: "Thing",
            entities: [
                EntityDescription(
                    name: "Thing",
                    properties: [
                        .attribute(
                            AttributeDescription(name: "value", type: type, isOptional: true, isUnique: isUnique, isIndexed: isIndexed))
                    ])
            ])
    }
}

extension TestStore {
    /// Returns the ids of the objects of ``Fixtures/thing(_:isIndexed:isUnique:)`` that satisfy a condition.
    func ids(_ predicate: QueryPredicate) throws -> [Int64] { try ids(FetchRequest(try entity("Thing"), predicate: predicate)) }
}

extension ComparisonOperator {
    /// Returns the result of a comparison of two integers.
    func holds(_ left: Int64, _ right: Int64) -> Bool {
        switch self {
        case .equal: left == right
        case .notEqual: left != right
        case .less: left < right
        case .lessOrEqual: left <= right
        case .greater: left > right
        case .greaterOrEqual: left >= right
        }
    }
}
