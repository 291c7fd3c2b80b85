import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Conditions on objects of another store or stack: row ids can be equal there, the objects are not.
@Suite struct ForeignObjectTests {
    private static let models: [any Model.Type] = [Person.self, Department.self, Project.self]

    /// Creates a stack with the stores A and B, which have the same entities.
    private static func stack(_ backend: Backend, _ folder: Folder) throws -> DataStack {
        let stack = try DataStack(Schema("Split", models, configurations: ["A": models, "B": models]), logger: SilentLogger())
        try stack.addStore(backend.store(in: folder, "a"), configuration: "A")
        try stack.addStore(backend.store(in: folder, "b"), configuration: "B")
        return stack
    }

    /// Creates a department and a person in each store, with the same row ids.
    private static func fill(_ stack: DataStack) throws -> (inA: ObjectID<Department>, inB: ObjectID<Department>) {
        let ids = try stack.performAndWait { transaction throws in
            try ["A", "B"].map { name in
                let department = try transaction.create(Into<Department>(name))
                department.title = name
                let person = try transaction.create(Into<Person>(name))
                (person.email, person.department) = (name, department)
                // Has no department.
                try transaction.create(Into<Person>(name)).email = "nobody of \(name)"
                return department.objectID
            }
        }
        #expect(ids[0].rowID == ids[1].rowID && ids[0] != ids[1])
        return (ids[0], ids[1])
    }

    private static func conditions(_ id: ObjectID<Department>) -> [(name: String, equal: Where<Person>, isNegated: Bool)] {
        [
            ("==", Where(\.department == id), false),
            ("!=", Where(\.department != id), true),
            ("not ==", !Where(\.department == id), true),
            ("~=", [id] ~= \.department, false),
            ("format", Where("department == %@", id), false),
            ("format !=", Where("department != %@", id), true),
            ("format, mirrored", Where("%@ == department", id), false),
            ("format IN", Where("department IN %@", [id]), false),
            ("format NOT IN", Where("NOT department IN %@", [id]), true),
            ("dictionary", Where(["department": id]), false),
            ("dictionary, list", Where(["department": [id]]), false),
            ("key", %"department" == id, false),
            ("key !=", %"department" != id, true),
            ("key, list", [id] ~= %"department", false),
            ("is equal to", Where("department", isEqualTo: id), false),
            ("is member of", Where("department", isMemberOf: [id]), false),
            ("one", .one(\.department, Where("SELF == %@", id)), false),
            ("any", Where("ANY department == %@", id), false),
            ("one, objectID", .one(\.department, Where("objectID IN %@", [id])), false),
        ]
    }

    @Test(arguments: Backend.forObjectLayer)
    func objectsOfOtherStoresEqualNone(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try Self.stack(backend, folder)
        let (_, inB) = try Self.fill(stack)
        let other = try Company(backend)
        let elsewhere = try other.stack.performAndWait { try $0.create(Into<Department>()).objectID }
        #expect(elsewhere.rowID == inB.rowID)
        for isTransaction in [false, true] {
            @Sendable func check(_ context: Context) throws {
                for (name, condition, isNegated) in Self.conditions(inB) {
                    func emails(_ from: From<Person>) throws -> [String] { try context.fetchAll(from, condition).map(\.email).sorted() }
                    #expect(try emails(From("A")) == (isNegated ? ["A"] : []), "\(name), A")
                    #expect(try emails(From("B")) == (isNegated ? [] : ["B"]), "\(name), B")
                    #expect(try emails(From()) == (isNegated ? ["A"] : ["B"]), "\(name), both")
                    #expect(try context.fetchCount(From<Person>("A"), condition) == (isNegated ? 1 : 0), "\(name), count")
                }
                for (name, condition, isNegated) in Self.conditions(elsewhere) {
                    #expect(try context.fetchAll(From<Person>(), condition).count == (isNegated ? 2 : 0), "\(name), another stack")
                }
                expectError(.invalidPredicate) { try context.fetchAll(From<Person>("A"), Where("department < %@", inB)) }
                #expect(try context.fetchAll(From<Person>("B"), Where("department <= %@", inB)).map(\.email) == ["B"])
            }
            if isTransaction {
                try stack.performAndWait { transaction throws in
                    try transaction.create(Into<Department>("A")).title = "pending"
                    try check(transaction)
                }
            } else {
                try stack.readAndWait { try check($0) }
            }
        }
    }

    @Test(arguments: Backend.allCases)
    func theSameStoreInAnotherStackHoldsTheSameObjects(_ backend: Backend) throws {
        // Only these engines can open a store twice.
        guard backend == .sqlite || backend == .lmdb else { return }
        let folder = try Folder()
        let stack = try Self.stack(backend, folder)
        let (inA, _) = try Self.fill(stack)
        let again = try Self.stack(backend, folder)
        let emails = try again.readAndWait { try $0.fetchAll(From<Person>(), Where(\.department == inA)).map(\.email) }
        #expect(emails == ["A"])
    }

    @Test(arguments: Backend.forObjectLayer)
    func objectsOfOtherStoresAreNotSetAndNotCreatedFor(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try Self.stack(backend, folder)
        let (inA, inB) = try Self.fill(stack)
        try stack.performAndWait { transaction throws in
            let set = expectError(.misuse) { try transaction.batchUpdate(From<Person>("A")) { $0.set(\.department, to: inB) } }
            #expect(set?.message.contains("a relationship stays within one store") ?? false)
            expectError(.misuse) { try transaction.batchUpdate(From<Person>("A")) { $0.set("department", to: inB) } }
            // Refused before the first of the two stores is changed.
            expectError(.misuse) { try transaction.batchUpdate(From<Person>()) { $0.set(\.department, to: inB) } }
            #expect(transaction.hasChanges == false)
            for condition in [Where<Person>(\.department == inB), Where("department == %@", inB)] {
                let created = expectError(.invalidPredicate) {
                    try transaction.fetchOrCreate(From<Person>("A"), condition && Where(\.email == "new"))
                }
                #expect(created?.message.contains("none is in the same store") ?? false, "\(created?.message ?? "")")
            }
            #expect(try transaction.fetchOrCreate(From<Person>("A"), Where(\.department == inA)).email == "A")
        }
    }

    /// The row ids of the departments are equal, so the relationship has that value already.
    @Test(arguments: Backend.forObjectLayer)
    func anObjectOfAnotherStoreOrContextIsNotTheCurrentTarget(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try Self.stack(backend, folder)
        let (inA, inB) = try Self.fill(stack)
        let context = stack.newContext()
        let draft = stack.beginUnsafe()
        for target in [try draft.edit(inB), try #require(try context.fetchExisting(inA))] {
            let person = try #require(try draft.fetchOne(From<Person>("A"), Where(\.department == inA)))
            person.department = target
            #expect(person.department?.objectID == inA)
            #expect(expectError(.misuse) { try draft.commit() }?.attribute == "department")
            draft.rollback()
        }
    }

    /// Random conditions on objects of two stores and of a store of another stack, compared with a model that compares complete ids.
    ///
    /// For more cases: `POLYSTORE_FOREIGN_SEEDS=1000 swift test --filter ForeignObjectTests`.
    @Test(arguments: Backend.forObjectLayer)
    func randomConditionsOnObjectsAgreeWithTheModel(_ backend: Backend) throws {
        let seeds = TestEnvironment.number("POLYSTORE_FOREIGN_SEEDS") ?? 6
        let other = try Company(backend)
        let elsewhere = try other.stack.performAndWait { transaction throws in
            try (0..<4).map { _ in try transaction.create(Into<Department>()).objectID }
        }
        for seed in 0..<seeds {
            let folder = try Folder()
            let stack = try Self.stack(backend, folder)
            var random = GraphTests.Random(seed)
            let targets = (0..<16).map { _ in random.next(5) }
            let isCleared = (0..<16).map { _ in random.next(3) == 0 }
            let ids = try stack.performAndWait { transaction throws in
                var ids = elsewhere
                for (index, name) in ["A", "B"].enumerated() {
                    let departments = try (0..<4).map { _ in try transaction.create(Into<Department>(name)) }
                    for number in 0..<8 {
                        let person = try transaction.create(Into<Person>(name))
                        person.email = "\(name)\(number)"
                        let target = targets[index * 8 + number]
                        if target < 4 { person.department = departments[target] }
                    }
                    ids += departments.map(\.objectID)
                }
                return ids
            }
            let drawn = (0..<20).map { _ in Self.draw(&random, ids, depth: 2) }
            try stack.performAndWait { transaction throws in
                for isPending in [false, true] {
                    for (index, person) in try isPending ? transaction.fetchAll(From<Person>()).enumerated().map({ $0 }) : []
                    where isCleared[index] {
                        person.department = nil
                    }
                    for (condition, text, truth) in drawn {
                        for source in [From<Person>("A"), From<Person>("B"), From<Person>()] {
                            let expected = try transaction.fetchAll(source).filter { truth($0.department?.objectID) == true }.map(\.email)
                            let found = try transaction.fetchAll(source, condition).map(\.email)
                            #expect(Set(found) == Set(expected) && found.count == expected.count, "seed \(seed): \(text)")
                        }
                    }
                }
            }
        }
    }

    private typealias Truth = @Sendable (ObjectID<Department>?) -> Bool?

    private static func draw(
        _ random: inout GraphTests.Random, _ ids: [ObjectID<Department>], depth: Int
    ) -> (Where<Person>, String, Truth) {
        if depth > 0, random.next(2) == 0 {
            let (left, leftText, first) = draw(&random, ids, depth: depth - 1)
            if random.next(3) == 0 { return (!left, "NOT (\(leftText))", { first($0).map { !$0 } }) }
            let (right, rightText, second) = draw(&random, ids, depth: depth - 1)
            if random.next(2) == 0 {
                return (
                    left && right, "(\(leftText)) AND (\(rightText))",
                    { id in
                        let (one, two) = (first(id), second(id))
                        return one == false || two == false ? false : (one == nil || two == nil ? nil : true)
                    }
                )
            }
            return (
                left || right, "(\(leftText)) OR (\(rightText))",
                { id in
                    let (one, two) = (first(id), second(id))
                    return one == true || two == true ? true : (one == nil || two == nil ? nil : false)
                }
            )
        }
        let id = ids[random.next(ids.count)]
        let list = (0...random.next(4)).map { _ in ids[random.next(ids.count)] }
        let equal: Truth = { $0.map { $0 == id } }
        let unequal: Truth = { $0.map { $0 != id } }
        let member: Truth = { $0.map { list.contains($0) } }
        switch random.next(9) {
        case 0: return (Where(\.department == id), "\\.department == \(id.uri)", equal)
        case 1: return (Where(\.department != id), "\\.department != \(id.uri)", unequal)
        case 2: return (list ~= \.department, "\(list.map(\.uri)) ~= \\.department", member)
        case 3: return (Where("department == %@", id), "department == \(id.uri)", equal)
        case 4: return (Where("department != %@", id), "department != \(id.uri)", unequal)
        case 5: return (Where("department IN %@", list), "department IN \(list.map(\.uri))", member)
        case 6: return (Where(["department": id]), "dictionary \(id.uri)", equal)
        case 7: return (%"department" == id, "%department == \(id.uri)", equal)
        default: return (list ~= %"department", "\(list.map(\.uri)) ~= %department", member)
        }
    }
}
