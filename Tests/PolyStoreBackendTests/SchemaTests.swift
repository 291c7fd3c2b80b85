import PolyStoreBackend
import TestSupport
import Testing

private func attribute(_ name: String, _ type: AttributeType = .int64) -> PropertyDescription {
    .attribute(AttributeDescription(name: name, type: type))
}

private func relationship(_ name: String, _ destination: String, many: Bool = false, inverse: String? = nil) -> PropertyDescription {
    .relationship(RelationshipDescription(name: name, destination: destination, isToMany: many, inverse: inverse))
}

private func schema(_ entities: EntityDescription...) -> SchemaDescription { SchemaDescription(name: "S", entities: entities) }
private func entity(_ name: String, _ properties: PropertyDescription..., indexes: [IndexDescription] = []) -> EntityDescription {
    EntityDescription(name: name, properties: properties, indexes: indexes)
}

@Suite struct SchemaTests {
    struct Wrong: Sendable, CustomTestStringConvertible {
        let schema: SchemaDescription
        let says: [String]
        var testDescription: String { says.joined(separator: ", ") }
    }

    static let wrong: [Wrong] = [
        Wrong(schema: schema(entity("A"), entity("A")), says: ["A", "same name"]),
        Wrong(schema: schema(entity("Person"), entity("person")), says: ["Person", "person", "case"]),
        Wrong(schema: schema(entity("")), says: ["empty name"]),
        Wrong(schema: schema(entity("A", attribute("x"), attribute("X"))), says: ["x", "X", "case"]),
        Wrong(schema: schema(entity("A", attribute("objectID"))), says: ["objectID"]),
        Wrong(schema: schema(entity("A", relationship("b", "B"))), says: ["A.b", "B", "not in this schema"]),
        Wrong(
            schema: schema(entity("A", relationship("b", "B", inverse: "x")), entity("B")), says: ["A.b", "B.x", "no such relationship"]),
        Wrong(
            schema: schema(entity("A", relationship("b", "B", inverse: "c")), entity("B", relationship("c", "C")), entity("C")),
            says: ["A.b", "B.c", "points to C"]),
        Wrong(
            schema: schema(
                entity("A", relationship("b", "B", inverse: "a"), relationship("d", "B", inverse: "a")), entity("B", relationship("a", "A"))
            ),
            says: ["B.a", "inverse of two", "A.d"]),
        Wrong(
            schema: schema(
                entity("A", relationship("b", "B", inverse: "a"), relationship("d", "B")), entity("B", relationship("a", "A", inverse: "d"))
            ),
            says: ["A.b", "B.a", "names d"]),
        Wrong(schema: schema(entity("A", attribute("x"), indexes: [IndexDescription(fields: ["y"])])), says: ["A", "y"]),
        Wrong(schema: schema(entity("A", attribute("x"), indexes: [IndexDescription(fields: ["x", "x"])])), says: ["A", "twice"]),
        Wrong(schema: schema(EntityDescription(name: "A", properties: (0...256).map { attribute("f\($0)") })), says: ["A", "257", "256"]),
    ]

    @Test(arguments: wrong)
    func isRefusedAndNamed(_ wrong: Wrong) {
        do {
            _ = try ResolvedSchema(wrong.schema)
            Issue.record("accepted")
        } catch let error as StoreError {
            #expect(error.code == .invalidSchema)
            for part in wrong.says { #expect(error.message.contains(part), "\(error.message) does not say \(part)") }
        } catch {
            Issue.record("\(error)")
        }
    }

    @Test func anInverseDeclaredAtOneEndAppliesToBoth() throws {
        let resolved = try ResolvedSchema(
            schema(entity("P", attribute("n"), relationship("d", "D", inverse: "ps")), entity("D", relationship("ps", "P", many: true))))
        let person = try #require(resolved.entity(named: "P"))
        let department = try #require(resolved.entity(named: "D"))
        #expect(person.relationships[0].inverse == 0)
        #expect(department.relationships[0].inverse == 0)
        #expect(person.relationships[0].storage == .foreignKey(field: 1))
        #expect(department.relationships[0].storage == .inverse(field: 1))
        #expect(resolved.links.isEmpty)
        #expect(person.indexes.map(\.name) == ["P_d"])
    }

    @Test func manyToManySharesOneTable() throws {
        let resolved = try ResolvedSchema(
            schema(entity("B", relationship("as", "A", many: true, inverse: "bs")), entity("A", relationship("bs", "B", many: true))))
        #expect(resolved.links.map(\.name) == ["A_bs"])
        #expect(resolved.entities[1].relationships[0].storage == .link(table: 0, isReversed: false))
        #expect(resolved.entities[0].relationships[0].storage == .link(table: 0, isReversed: true))
    }

    @Test func ownInverseIsSymmetric() throws {
        let resolved = try ResolvedSchema(schema(entity("P", relationship("friends", "P", many: true, inverse: "friends"))))
        #expect(resolved.links.map(\.isSymmetric) == [true])
        #expect(resolved.entities[0].relationships[0].storage == .link(table: 0, isReversed: false))
    }

    @Test func aOneWayToManyHasATableAndAWayBack() throws {
        let resolved = try ResolvedSchema(schema(entity("P", relationship("tags", "T", many: true)), entity("T")))
        let tags = resolved.entities[0].relationships[0]
        #expect(tags.inverse == nil)
        #expect(tags.reversed?.storage == .link(table: 0, isReversed: true))
        #expect(tags.reversed?.source == 1)
    }

    /// Changing this value makes every existing store incompatible.
    @Test func theHashIsStable() {
        let one = schema(
            entity("P", attribute("n", .string), relationship("d", "D", inverse: "ps")), entity("D", relationship("ps", "P", many: true)))
        #expect(one.versionHash == "bc897fdb06d11610")
        var other = one
        other.entities.reverse()
        other.name = "another name"
        #expect(other.versionHash == one.versionHash)
        other.entities[1].properties[0] = attribute("n", .data)
        #expect(other.versionHash != one.versionHash)
    }

    /// A default can differ at every start: `Date()`, `UUID()`.
    @Test func defaultsAreNotPartOfTheHash() {
        func schema(_ value: Value?) -> SchemaDescription {
            SchemaDescription(
                name: "S",
                entities: [
                    EntityDescription(
                        name: "A", properties: [.attribute(AttributeDescription(name: "made", type: .date, defaultValue: value))])
                ])
        }
        #expect(schema(.real(1)).versionHash == schema(.real(2)).versionHash)
        #expect(schema(.real(1)).versionHash == schema(nil).versionHash)
        #expect(schema(.real(1)).differences(to: schema(.real(2))).isEmpty)
    }

    @Test func theDescriptionSurvivesEncoding() throws {
        var original = allTypes
        original.entities[0].properties.append(
            .attribute(AttributeDescription(name: "limit", type: .double, defaultValue: .real(.infinity))))
        original.entities[0].indexes = [IndexDescription(fields: ["string", "int64"], isUnique: true)]
        #expect(try SchemaDescription(encoded: original.encoded()) == original)
        #expect(throws: StoreError.self) { try SchemaDescription(encoded: [1, 2, 3]) }
    }

    @Test func differencesAreNamed() {
        let before = schema(entity("A", attribute("x"), attribute("y")), entity("Gone"))
        let after = schema(entity("A", attribute("x", .string), attribute("z")), entity("New"))
        #expect(
            before.differences(to: after) == [
                "entity Gone is gone", "A.y is gone", "A.x was int64 and is string", "A.z is new", "entity New is new",
            ])
        #expect(before.differences(to: before).isEmpty)
    }
}

@Suite struct PredicateTests {
    private let field = FieldReference(index: 0, name: "x", type: .int64)

    @Test func constantsAreSimplifiedAway() {
        let test = QueryPredicate.compare(field, .equal, .integer(1))
        #expect(QueryPredicate.and([.all, test]) == test)
        #expect(QueryPredicate.and([.none, test]) == .none)
        #expect(QueryPredicate.or([.none, test]) == test)
        #expect(QueryPredicate.or([.all, test]) == .all)
        #expect(QueryPredicate.and([]) == .all)
        #expect(QueryPredicate.or([]) == .none)
        #expect(QueryPredicate.not(.all) == .none)
        #expect(QueryPredicate.and([test, .and([test, test])]).conjuncts.count == 3)
    }

    @Test func descriptionsAreReadable() {
        let predicate = QueryPredicate.and([
            .compare(field, .greater, .integer(3)), .or([.isNull(field), .oneOf(field, [.integer(1), .null])]),
            .not(.text(field, .contains, "a\"b")),
        ])
        #expect(predicate.description == "(x > 3 AND (x == NULL OR x IN {1, NULL}) AND NOT x CONTAINS \"a\"b\")")
    }
}

@Suite struct LoggerTests {
    @Test func messagesAreBuiltOnlyWhereTheyAreWanted() {
        let logger = RecordingLogger()
        var built = 0
        func message() -> String {
            built += 1
            return "said"
        }
        logger.write(.info, message())
        #expect(built == 0)
        logger.write(.error, message())
        #expect(built == 1)
        #expect(logger.lines == ["error: said"])
    }

    @Test func loggedErrorsNameTheOperation() {
        let logger = RecordingLogger()
        logger.log(StoreError(.full, "No room."), "saving", file: #fileID, line: #line, function: #function)
        #expect(logger.lines == ["error: saving: full: No room."])
    }

    static let wrongRules: [(AttributeType, AttributeRule, String)] = [
        (.string, .range(.integer(0), nil, of: .int64), "only numbers and dates"),
        (.bool, .range(.integer(0), nil, of: .int64), "only numbers"),
        (.int64, .range(.integer(5), .integer(4), of: .int64), "no value is in it"),
        (.int64, .range(.integer(5), .integer(5), includesUpper: false, of: .int64), "no value is in it"),
        (.int64, .range(.real(0), nil, of: .date), "a bound is date"),
        (.date, .range(.integer(0), nil, of: .int64), "a bound is int64"), (.decimal, .range(.real(0), nil, of: .date), "a bound is date"),
        (.int64, .length(0, 3), "only texts and data"), (.json, .length(0, 3), "only texts and data"),
        (.string, .length(4, 3), "no value has it"),
        (.data, .length(-1, 3), "no value has it"), (.uuid, .matches("a"), "only texts"),
        (.string, .matches("("), "not a regular expression"),
    ]

    /// Reported when the stack is created, not at the first commit.
    @Test(arguments: wrongRules)
    func rulesThatDoNotFitAreRefused(_ type: AttributeType, _ rule: AttributeRule, _ says: String) throws {
        let attribute = PropertyDescription.attribute(AttributeDescription(name: "a", type: type, rules: [rule]))
        do {
            _ = try ResolvedSchema(schema(EntityDescription(name: "E", properties: [attribute])))
            Issue.record("\(type) \(rule) was taken")
        } catch let error as StoreError {
            #expect(error.code == .invalidSchema && error.entity == "E" && error.attribute == "a")
            #expect(error.message.contains(says), "\(error.message)")
        }
    }
}
