import Foundation
import PolyStoreBackend
import PolyStoreCore
import PolyStoreMemory
import PolyStoreSQLite
import TestModels
import TestSupport
import Testing

/// Objects of stores that are opened with the schema that they keep. The stores are written with classes first, and read with them again.
@Suite struct DynamicObjectTests {
    @Test(arguments: Engine.all)
    func objectsAreReadByNames(_ engine: Engine) throws {
        let stored = try Stored(engine, Stored.company, Stored.fillCompany)
        let stack = try DataStack(opening: stored.configuration)
        try stack.readAndWait { context in
            let query = EntityQuery("Person").where("age >= %d AND department.title == %@", 30, "Research").orderBy("age", ascending: false)
            let people = try context.fetchAll(query)
            #expect(try people.map { try $0.value("email") } == ["cid", "bob"])
            #expect(try context.fetchCount(query) == 2)
            #expect(try context.fetchObjectIDs(query) == people.map(\.id))
            #expect(try context.fetchOne(query.offset(1))?.value("age") == 30)
            let bob = try #require(people.last)
            #expect(bob.entityName == "Person")
            #expect(bob.propertyNames == ["email", "age", "nickname", "department", "friends", "spouse"])
            let research = try #require(try bob.object("department"))
            #expect(try research.value("budget") == .decimal(12.5))
            #expect(try bob.value("department") == .objectID(research.id))
            #expect(try bob.value("nickname") == nil)
            #expect(try research.objects("people").map { try $0.value("email") } == ["ann", "bob", "cid"])
            #expect(try research.objects("people")[1] === bob, "one object for each id in a context")
            #expect(try context.fetchExisting(bob.id) === bob)
            #expect(try context.fetchAll(EntityQuery("Person").where("department == %@", research.id)).count == 3)
            let rows = try context.queryAttributes(
                EntityQuery("Person").orderBy("department.title"), Select("department.title", .count(as: "people"), .average("age")),
                groupBy: ["department.title"], having: "people > 1")
            #expect(rows == [["department.title": "Research", "people": 3, "average(age)": 30.0]])
            #expect(try context.explain(EntityQuery("Person").where("age == 30")).contains("Person"))
            #expect(try !context.plans(EntityQuery("Person").where("age == 30")).isEmpty)
        }
    }

    @Test(arguments: Engine.all)
    func objectsAreCreatedChangedAndDeleted(_ engine: Engine) throws {
        let stored = try Stored(engine, Stored.company, Stored.fillCompany)
        try stored.writing { stack in
            try stack.performAndWait { transaction in
                let bob = try #require(try transaction.fetchOne(EntityQuery("Person").where("email == %@", "bob")))
                let eve = try transaction.create("Person", ["email": "eve", "age": 5, "spouse": .objectID(bob.id)])
                #expect(eve.isInserted)
                let sales = try #require(try transaction.fetchOne(EntityQuery("Dept").where("title == 'Sales'")))
                try sales.insert([eve, bob], into: "people")
                try bob.set("nickname", to: "Bobby")
                try bob.set("spouse", to: nil)
                try bob.set("spouse", to: eve)
                try bob.set("friends", to: transaction.fetchAll(EntityQuery("Person").where("age > 25")).filter { $0 !== bob })
                let cid = try #require(try bob.objects("friends").first { try $0.value("email") == "cid" })
                try bob.remove([cid], from: "friends")
                try transaction.delete(transaction.fetchAll(EntityQuery("Person").where("email == 'ann'")))
            }
        }
        try stored.withClasses { stack in
            try stack.readAndWait { context in
                let people = try context.fetchAll(From<Person>().orderBy(.ascending("email")))
                #expect(people.map(\.email) == ["bob", "cid", "dan", "eve"])
                let (bob, dan, eve) = (people[0], people[2], people[3])
                #expect(eve.age == 5 && eve.spouse === bob && bob.spouse === eve && bob.nickname == "Bobby")
                #expect(bob.friends == [dan] && dan.friends == [bob])
                #expect(bob.department?.title == "Sales" && eve.department?.title == "Sales")
            }
        }
    }

    @Test(arguments: Engine.all)
    func rulesOfTheSchemaApply(_ engine: Engine) throws {
        let stored = try Stored(engine, Stored.company, Stored.fillCompany)
        try stored.writing { stack in
            func refused(_ code: StoreError.Code, _ text: String, _ body: @Sendable (Transaction) throws -> Void) throws {
                let error = try requireFailure { try stack.performAndWait { try body($0) } }
                #expect(error.code == code && "\(error)".contains(text), "\(error)")
            }
            try refused(.constraint, "email") { try $0.create("Person", ["email": "bob"]) }
            try refused(.constraint, "email") { try $0.create("Person", ["age": 1]) }
            try refused(.constraint, "people") { try $0.deleteAll(EntityQuery("Dept")) }
            try refused(.constraint, "owner") { try $0.create("Project", ["name": "x"]) }
            try refused(.invalidValue, "age") { try $0.create("Person", ["email": "x", "age": "old"]) }
            try refused(.invalidValue, "age") { try $0.create("Person", ["email": "x", "age": nil]) }
            try refused(.misuse, "height") { try $0.create("Person", ["email": "x", "height": 1]) }
            try refused(.storeNotFound, "Persons") { try $0.create("Persons") }
            try refused(.misuse, "leads to Dept") { transaction in
                let bob = try #require(try transaction.fetchOne(EntityQuery("Person")))
                try bob.set("department", to: bob)
            }
            try refused(.invalidPredicate, "height") { _ = try $0.fetchAll(EntityQuery("Person").where("height > 1")) }
            let before = try stack.readAndWait { try $0.fetchCount(EntityQuery("Person")) }
            #expect(before == 4, "nothing of the refused transactions is written")
            // Cascade.
            try stack.performAndWait { transaction in
                let research = try #require(try transaction.fetchOne(EntityQuery("Dept").where("title == 'Research'")))
                try research.set("people", to: [])
                try transaction.delete(research)
            }
            #expect(try stack.readAndWait { try $0.fetchCount(EntityQuery("Project")) } == 0)
        }
    }

    /// An order is a name or a path of names, with any characters, or else a calculation.
    @Test(arguments: Engine.all)
    func ordersAreNamesPathsOrCalculations(_ engine: Engine) throws {
        let folder = try Folder()
        func attribute(_ name: String, _ type: AttributeType = .int64) -> PropertyDescription {
            .attribute(AttributeDescription(name: name, type: type, isOptional: true))
        }
        let schema = SchemaDescription(
            name: "1",
            entities: [
                EntityDescription(
                    name: "Man",
                    properties: [
                        attribute("name", .string), attribute("age"), attribute("a + b"), attribute("info", .json),
                        .relationship(RelationshipDescription(name: "chief", destination: "Man", isToMany: false)),
                    ])
            ])
        let stack = try DataStack(Schema(schema))
        try stack.addStore(engine.store(in: folder))
        try stack.performAndWait { transaction in
            let old = try transaction.create("Man", ["name": "x", "age": 90, "a + b": 3, "info": "{\"k\": 1}"])
            try transaction.create("Man", ["name": "y", "age": 30, "a + b": 1, "info": "{\"k\": 3}", "chief": .objectID(old.id)])
            let young = try transaction.create(
                "Man", ["name": "z", "age": 5, "a + b": 2, "info": "{\"k\": 2}", "chief": .objectID(old.id)])
            try old.set("chief", to: young)
        }
        let cases = [
            ("chief.age + age", "xzy"), ("chief.age - age", "xyz"), ("chief.age", "xyz"), ("a + b", "yzx"), ("chief.a + b", "xyz"),
            ("age * 2", "zyx"), ("CAST(info.k, 'NSNumber')", "xzy"), ("chief.chief.age * 1", "yzx"),
        ]
        for (order, expected) in cases {
            let found = try stack.readAndWait {
                try $0.fetchAll(EntityQuery("Man").orderBy(order)).map { try $0.value("name")?.string ?? "" }
            }
            #expect(found.joined() == expected, "\(order)")
        }
        for order in ["chief.size + age", "chief.+", "chief..age"] {
            let error = try requireFailure { _ = try stack.readAndWait { try $0.fetchCount(EntityQuery("Man").orderBy(order)) } }
            #expect(error.code == .invalidPredicate, "\(order): \(error)")
        }
    }

    @Test(arguments: Engine.all)
    func objectsAreConfinedToTheirContext(_ engine: Engine) throws {
        let stored = try Stored(engine, Stored.company, Stored.fillCompany)
        try stored.writing { stack in
            try stack.readAndWait { context in
                nonisolated(unsafe) let bob = try #require(try context.fetchOne(EntityQuery("Person")))
                #expect(try requireFailure { try bob.set("age", to: 3) }.code == .misuse)
                #expect(try requireFailure { try bob.set("friends", to: [bob]) }.code == .misuse)
                try stack.performAndWait { transaction in
                    let other = try transaction.create("Person", ["email": "z"])
                    #expect(try requireFailure { try other.set("spouse", to: bob) }.message.contains("same transaction"))
                    try other.set("spouse", to: transaction.edit(bob.id))
                }
            }
            let left = try stack.performAndWait { try $0.create("Person", ["email": "y"]).id }
            try stack.performAndWait { transaction in
                let object = try transaction.edit(left)
                try transaction.delete(object)
                #expect(try requireFailure { try object.set("age", to: 1) }.code == .notFound)
            }
            #expect(try requireFailure { try stack.performAndWait { _ = try $0.edit(left) } }.code == .notFound)
        }
    }

    @Test(arguments: Engine.all)
    func aStoreIsReadOnlyByDefault(_ engine: Engine) throws {
        let stored = try Stored(engine, Stored.company, Stored.fillCompany)
        let stack = try DataStack(opening: stored.configuration)
        #expect(try requireFailure { try stack.performAndWait { _ = try $0.create("Person", ["email": "x"]) } }.code == .readOnly)
        let missing = try engine.store(in: stored.folder, "missing")
        #expect(throws: StoreError.self) { try DataStack(opening: missing) }
        if engine == .files(.levelDB) {
            try FileManager.default.createDirectory(atPath: stored.folder.file("empty.leveldb"), withIntermediateDirectories: false)
            #expect(throws: StoreError.self) { try DataStack(opening: engine.store(in: stored.folder, "empty")) }
            #expect(try FileManager.default.contentsOfDirectory(atPath: stored.folder.file("empty.leveldb")).isEmpty)
        }
        #expect(!stored.folder.names.contains { $0.hasPrefix("missing") }, "\(stored.folder.names)")
    }

    @Test(arguments: Engine.all)
    func valuesOfEveryTypeAreReadAndWritten(_ engine: Engine) throws {
        let uuid = UUID()
        let stored = try Stored(engine, Schema("Gadgets", Gadget.self)) { transaction in
            let gadget = try transaction.create(Gadget.self)
            (gadget.label, gadget.level, gadget.serial, gadget.weight) = ("a", -128, .max, 0.1)
            (gadget.ratio, gadget.price, gadget.isOn, gadget.code) = (1.5, Decimal(string: "3.14")!, true, uuid)
            gadget.made = Date(timeIntervalSinceReferenceDate: 12.5)
        }
        try stored.writing { stack in
            try stack.performAndWait { transaction in
                let gadget = try #require(try transaction.fetchOne(EntityQuery("Gadget")))
                let values = try gadget.values()
                #expect(values["level"] == -128 && values["serial"] == .unsigned(.max) && values["weight"] == 0.1 && values["ratio"] == 1.5)
                #expect(values["isOn"] == true && values["code"] == .uuid(uuid))
                let copy = try transaction.create("Gadget", values.filter { $0.key != "code" }.mapValues { $0 })
                try copy.set("label", to: "b")
                for (name, value) in [
                    ("level", 128), ("level", 1.5), ("serial", -1), ("isOn", 1), ("weight", "1"), ("code", "no"), ("ratio", .real(1e300)),
                    ("weight", .integer(.max)),
                ] as [(String, QueryValue)] {
                    let error = try requireFailure { try copy.set(name, to: value) }
                    #expect(error.code == .invalidValue && error.attribute == name, "\(name) \(value): \(error)")
                }
            }
        }
        try stored.withClasses { stack in
            try stack.readAndWait { context in
                let gadgets = try context.fetchAll(From<Gadget>().orderBy(.ascending("label")))
                #expect(gadgets.map(\.label) == ["a", "b"])
                #expect(gadgets[1].serial == .max && gadgets[1].price == gadgets[0].price && gadgets[1].made == gadgets[0].made)
                #expect(gadgets[1].kind == .plain && gadgets[1].level == -128 && gadgets[1].isOn && gadgets[1].code == nil)
            }
        }
    }

    @Test(arguments: Engine.all)
    func objectsOfHierarchiesHaveTheirOwnEntities(_ engine: Engine) throws {
        let stored = try Stored(engine, Schema("Parties", Party.self, Visit.self)) { transaction in
            let jane = try transaction.create(Human.self) { ($0.name, $0.age) = ("Jane", 41) }
            let firm = try transaction.create(Firm.self) { ($0.name, $0.revenue, $0.director) = ("Acme", 7, jane) }
            let worker = try transaction.create(Worker.self) { ($0.name, $0.badge) = ("Will", "w1") }
            worker.employer = firm
        }
        try stored.writing { stack in
            func refused(_ code: StoreError.Code, _ text: String, _ body: @Sendable (Transaction) throws -> Void) throws {
                let error = try requireFailure { try stack.performAndWait { try body($0) } }
                #expect(error.code == code && "\(error)".contains(text), "\(error)")
            }
            try refused(.misuse, "abstract") { try $0.create("Party", ["name": "x"]) }
            try refused(.constraint, "badge") { try $0.create("Worker", ["name": "x"]) }
            try refused(.constraint, "director") { try $0.create("Firm", ["name": "x"]) }
            try refused(.misuse, "revenue") { try $0.create("Human", ["revenue": 1]) }
            try refused(.invalidValue, "badge") { try $0.create("Worker", ["badge": nil]) }
            try refused(.misuse, "employer") { transaction in
                let firm = try #require(try transaction.fetchOne(EntityQuery("Firm")))
                try firm.insert([firm], into: "staff")
            }
            try stack.performAndWait { transaction in
                #expect(try transaction.fetchAll(EntityQuery("Human").orderBy("name")).map(\.entityName) == ["Human", "Worker"])
                #expect(try transaction.fetchCount(EntityQuery("Party")) == 3 && transaction.fetchCount(EntityQuery("Worker")) == 1)
                let worker = try #require(try transaction.fetchOne(EntityQuery("Worker")))
                #expect(worker.propertyNames.contains("badge") && !worker.propertyNames.contains("revenue"))
                let boss = try transaction.create("Worker", ["name": "Boss", "badge": "b1"])
                try boss.insert([worker], into: "reports")
                try transaction.create("Human", ["name": "Kim"])
            }
            let found = try stack.readAndWait { try $0.fetchAll(EntityQuery("Party").where("revenue == 0")).map(\.entityName) }
            #expect(found.isEmpty, "a human has no revenue, not even the default of one")
            try refused(.constraint, "reports") { transaction in
                let boss = try #require(try transaction.fetchOne(EntityQuery("Worker").where("badge == 'b1'")))
                try boss.set("reports", to: (0..<3).map { try transaction.create("Worker", ["badge": .text("r\($0)")]) })
            }
        }
        try stored.withClasses { stack in
            try stack.readAndWait { context in
                let parties = try context.fetchAll(From<Party>().orderBy(.ascending("name")))
                #expect(parties.map { "\(type(of: $0))" } == ["Firm", "Worker", "Human", "Human", "Worker"])
                #expect((parties[4] as? Worker)?.boss === parties[1])
            }
        }
    }

    @Test(arguments: Engine.all)
    func orderedRelationshipsKeepTheirOrder(_ engine: Engine) throws {
        let stored = try Stored(engine, Schema("Music", Playlist.self, Track.self, MusicTag.self)) { transaction in
            let list = try transaction.create(Playlist.self)
            list.tracks = try ["a", "b", "c"].map { title in try transaction.create(Track.self) { $0.title = title } }
        }
        try stored.writing { stack in
            try stack.performAndWait { transaction in
                let list = try #require(try transaction.fetchOne(EntityQuery("Playlist")))
                let tracks = try list.objects("tracks")
                try list.set("tracks", to: [tracks[2], tracks[0], tracks[2]])
                try list.insert([transaction.create("Track", ["title": "d"]), tracks[0]], into: "tracks")
                try list.insert([tracks[1], tracks[0]], into: "extras")
                try list.remove([tracks[1]], from: "extras")
            }
        }
        try stored.withClasses { stack in
            try stack.readAndWait { context in
                let list = try #require(try context.fetchOne(From<Playlist>()))
                #expect(list.tracks.map(\.title) == ["c", "a", "d"])
                #expect(list.extras.map(\.title) == ["a"])
            }
        }
    }

    @Test(arguments: Engine.shared)
    func commitsOfAProgramWithClassesAreSeen(_ engine: Engine) async throws {
        let stored = try Stored(engine, Stored.company, Stored.fillCompany)
        let typed = try DataStack(stored.schema)
        try typed.addStore(stored.configuration)
        let stack = try DataStack(opening: stored.configuration, forWriting: true)
        try typed.performAndWait { transaction in for person in try transaction.fetchAll(From<Person>()) { person.age += 1 } }
        #expect(try stack.readAndWait { try $0.fetchCount(EntityQuery("Person").where("age == 21")) } == 1)
        try stack.performAndWait { _ = try $0.create("Person", ["email": "new"]) }
        #expect(try typed.readAndWait { try $0.fetchCount(From<Person>().where("email == 'new'")) } == 1)
    }

    @Test(arguments: Engine.all)
    func storesOfAConfigurationAreOpened(_ engine: Engine) throws {
        let folder = try Folder()
        let configuration = try engine.store(in: folder)
        let schema = Schema("Split", [Person.self, Department.self, Project.self, Plain.self], configurations: ["Cache": [Plain.self]])
        let typed = try DataStack(schema)
        let store = try typed.addStore(configuration, configuration: "Cache")
        try typed.performAndWait { try $0.create(Plain.self).number = 3 }
        try typed.removeStoreAndWait(store, evenIfInUse: true)
        let stack = try DataStack(opening: configuration)
        #expect(stack.stores.first?.configurationName == "Cache")
        #expect(try stack.readAndWait { try $0.fetchOne(EntityQuery("Plain"))?.value("number") } == 3)
    }

    @Test(arguments: Engine.all)
    func rulesOfClassesAreListed(_ engine: Engine) throws {
        let stored = try Stored(engine, Schema("Mixed", Party.self, Visit.self, Reading.self))
        try stored.writing { stack in
            let rules = stack.uncheckedRules.map { "\($0.entity).\($0.property) \($0.kind)" }
            #expect(
                rules == [
                    "Party.sponsor subentityOfTargets", "Party.director subentityOfTargets", "Reading.tags codableType",
                    "Reading.marks codableType",
                    "Reading.due computedDefault",
                ])
            #expect(stack.schema.name == "Mixed" && stack.uncheckedRules[0].description.contains("Party.sponsor"))
            let error = try requireFailure {
                try stack.performAndWait { _ = try $0.create("Reading", ["tags": "[1", "taken": .date(Date()), "due": .date(Date())]) }
            }
            #expect(error.code == .invalidValue && error.attribute == "tags")
            try stack.performAndWait { _ = try $0.create("Reading", ["tags": "[\"a\"]", "taken": .date(Date()), "due": .date(Date())]) }
        }
        let tags = try stored.withClasses { stack in try stack.readAndWait { try $0.fetchOne(From<Reading>())?.tags } }
        #expect(tags == ["a"])
    }

    /// A commit without classes has the names of subentities in the history, and a stack without classes reads those of others.
    @Test(arguments: Engine.all)
    func theHistoryNamesSubentities(_ engine: Engine) throws {
        let stored = try Stored(engine, Schema("Parties", Party.self, Visit.self))
        let stack = try DataStack(opening: stored.configuration, forWriting: true, history: HistoryOptions())
        try stack.performAndWait { _ = try $0.create("Worker", ["name": "Will", "badge": "w"]) }
        try stack.performAndWait { try $0.delete($0.fetchAll(EntityQuery("Worker"))) }
        let changes = try stack.historyAndWait().flatMap(\.changes)
        #expect(changes.map { "\($0.kind) \($0.entityName)" } == ["inserted Worker", "deleted Worker"])
        try stack.removeStoreAndWait(stack.stores[0], evenIfInUse: true)
    }

    @Test func aStackWithClassesReadsNoEntitiesByName() throws {
        let stack = try DataStack(Person.self, Department.self, Project.self)
        try stack.addStore(.inMemory())
        let error = try requireFailure { _ = try stack.readAndWait { try $0.fetchCount(EntityQuery("Person")) } }
        #expect(error.code == .misuse && error.message.contains("From<Person>"), "\(error)")
    }

    /// Each schema has classes of its own, and equal schemas have the same.
    @Test func manySchemasAreOpenAtOnce() throws {
        let folder = try Folder()
        for number in 0..<40 {
            let typed = try DataStack(number % 2 == 0 ? Schema("A", Plain.self) : Schema("B", Plain.self, Tally.self))
            let store = try typed.addStore(.sqlite(file: folder.file("\(number)")))
            try typed.performAndWait { try $0.create(Plain.self).number = number }
            try typed.removeStoreAndWait(store, evenIfInUse: true)
        }
        let stacks = try (0..<40).map { try DataStack(opening: .sqlite(file: folder.file("\($0)"))) }
        let numbers = try stacks.map { try $0.readAndWait { try $0.fetchOne(EntityQuery("Plain"))?.value("number") } }
        #expect(numbers == (0..<40).map { .integer($0) })
    }
}
