import Foundation
import PolyStoreBackend
import PolyStoreCore
import PolyStoreFormats
import PolyStoreGzip
import TestModels
import TestSupport
import Testing

/// Export and import of objects without classes.
@Suite struct DynamicTransferTests {
    /// Countries with a unique code, and cities with a unique id of two attributes.
    private static let world = SchemaDescription(
        name: "World",
        entities: [
            EntityDescription(
                name: "Country",
                properties: [
                    .attribute(AttributeDescription(name: "code", type: .string, isUnique: true)),
                    .attribute(AttributeDescription(name: "title", type: .string, isOptional: true)),
                    .relationship(RelationshipDescription(name: "route", destination: "City", isToMany: true, isOrdered: true)),
                    .relationship(RelationshipDescription(name: "cities", destination: "City", isToMany: true, inverse: "country")),
                ]),
            EntityDescription(
                name: "City",
                properties: [
                    .attribute(AttributeDescription(name: "name", type: .string)),
                    .attribute(AttributeDescription(name: "region", type: .int32)),
                    .attribute(AttributeDescription(name: "odd \"name\"", type: .data, isOptional: true)),
                    .relationship(RelationshipDescription(name: "country", destination: "Country", isToMany: false)),
                ], indexes: [IndexDescription(fields: ["name", "region"], isUnique: true)]),
        ])

    /// A stack with a new store of a schema.
    private static func stack(_ engine: Engine, _ folder: Folder, _ schema: SchemaDescription, _ name: String = "new") throws -> DataStack {
        let stack = try DataStack(Schema(schema))
        try stack.addStore(engine.store(in: folder, name))
        return stack
    }

    private static func text(_ stack: DataStack, _ query: EntityQuery, _ format: RecordFormat) async throws -> String {
        String(decoding: try await stack.export(query, format: format), as: UTF8.self)
    }

    private static func fill(_ stack: DataStack) throws {
        try stack.performAndWait { transaction in
            for code in ["FR", "q\"'", "tab\tand\nline", "nul\0"] {
                try transaction.create("Country", ["code": .text(code), "title": nil])
            }
            let france = try #require(try transaction.fetchOne(EntityQuery("Country").where("code == 'FR'")))
            var cities: [DynamicObject] = []
            for number in 0..<5 {
                cities.append(
                    try transaction.create(
                        "City",
                        [
                            "name": .text(number == 0 ? "" : "c\(number)"),
                            "region": .integer(number == 0 ? -2_147_483_648 : Int64(number)),
                            "odd \"name\"": number == 2 ? .data(Data([0, 255])) : nil, "country": number < 3 ? .objectID(france.id) : nil,
                        ]))
            }
            try france.set("route", to: [cities[4], cities[0], cities[2]])
        }
    }

    @Test(arguments: Engine.all, ["jsonl", "json", "csv"])
    func anImportRecreatesWhatAnExportWrote(_ engine: Engine, _ name: String) async throws {
        let format: RecordFormat = name == "csv" ? .csv : name == "json" ? .json : .jsonLines
        let folder = try Folder()
        let old = try Self.stack(engine, folder, Self.world, "old")
        try Self.fill(old)
        let (countries, cities) = (EntityQuery("Country").orderBy("code"), EntityQuery("City").orderBy("region"))
        let texts = [try await Self.text(old, countries, format), try await Self.text(old, cities, format)]

        let new = try Self.stack(engine, folder, Self.world, "new")
        // Countries and cities lead to each other, so the targets of the first import are created with their ids only.
        let options = EntityImportOptions(missingTargets: .createStub)
        let first = try await new.importRecords("City", from: .text(texts[1], format: format), options: options)
        #expect(first.inserted == 5 && first.updated == 0 && first.isComplete, "\(first)")
        let second = try await new.importRecords("Country", from: .text(texts[0], format: format))
        #expect(second.inserted == 3 && second.updated == 1, "cities led to one of them: \(second)")
        #expect(try await Self.text(new, countries, format) == texts[0])
        #expect(try await Self.text(new, cities, format) == texts[1])

        try await new.importRecords("City", from: .text(texts[1], format: format))
        #expect(try await Self.text(new, cities, format) == texts[1])
        #expect(try new.readAndWait { try $0.fetchCount(EntityQuery("City")) } == 5)
    }

    @Test(arguments: Engine.all)
    func aStoreOfClassesIsExportedAndImported(_ engine: Engine) async throws {
        let stored = try Stored(engine, Schema("Gadgets", Gadget.self)) { transaction in
            let part = try transaction.create(Gadget.self) { ($0.label, $0.code, $0.tags) = ("part", UUID(), ["a,b", "\"\n"]) }
            let gadget = try transaction.create(Gadget.self)
            (gadget.label, gadget.level, gadget.serial, gadget.weight, gadget.ratio) = ("x", -128, .max, .infinity, 1.5)
            (gadget.price, gadget.isOn, gadget.code, gadget.part) = (Decimal(string: "3.14")!, true, UUID(), part)
            gadget.made = Date(timeIntervalSinceReferenceDate: 12.5)
            part.part = gadget
        }
        for format in [RecordFormat.csv, .jsonLines] {
            let query = EntityQuery("Gadget").orderBy("label")
            let text = try await Stored.opened(stored.configuration) { try await Self.text($0, query, format) }
            let copy = try Stored(engine, stored.schema)
            try await Stored.opened(copy.configuration, forWriting: true) { stack in
                try await stack.importRecords("Gadget", from: .text(text, format: format))
                #expect(try await Self.text(stack, query, format) == text)
            }
            try copy.withClasses { stack in
                try stack.readAndWait { context in
                    let gadgets = try context.fetchAll(From<Gadget>().orderBy(.ascending("label")))
                    #expect(gadgets.map(\.tags) == [["a,b", "\"\n"], []] && gadgets[1].weight == .infinity && gadgets[1].serial == .max)
                    #expect(gadgets[0].part === gadgets[1] && gadgets[1].part === gadgets[0])
                }
            }
        }
    }

    @Test(arguments: Engine.all)
    func aHierarchyIsExportedAndImportedWithItsEntities(_ engine: Engine) async throws {
        let stored = try Stored(engine, Schema("Parties", Party.self, Visit.self)) { transaction in
            let jane = try transaction.create(Human.self) { ($0.name, $0.age, $0.code) = ("Jane", 41, "j") }
            let firm = try transaction.create(Firm.self) { ($0.name, $0.revenue, $0.director, $0.code) = ("Acme", 7, jane, "a") }
            let will = try transaction.create(Worker.self) { ($0.name, $0.badge, $0.code) = ("Will", "w1", "w") }
            (will.employer, jane.sponsor) = (firm, firm)
            try transaction.create(Worker.self) { ($0.name, $0.badge, $0.code, $0.boss) = ("Xi", "x1", "x", will) }
        }
        let parties = EntityQuery("Party").orderBy("code")
        let text = try await Stored.opened(stored.configuration) { try await Self.text($0, parties, .csv) }
        #expect(text.hasPrefix("_entity,name,code,sponsor,"), "\(text)")
        let workers = try await Stored.opened(stored.configuration) { try await Self.text($0, EntityQuery("Worker"), .jsonLines) }
        #expect(!workers.contains("revenue") && workers.contains("badge"))
        let copy = try Stored(engine, stored.schema)
        try await Stored.opened(copy.configuration, forWriting: true) { stack in
            let report = try await stack.importRecords("Party", from: .text(text, format: .csv))
            #expect(report.inserted == 4 && report.entity == "Party", "\(report)")
            #expect(try await Self.text(stack, parties, .csv) == text)
            #expect(try await stack.importRecords("Worker", from: .text(workers, format: .jsonLines)).updated == 2)
            #expect(try await Self.text(stack, parties, .csv) == text)
            func refused(_ entity: String, _ record: String, _ text: String) async throws {
                let error = try await requireFailure {
                    _ = try await stack.importRecords(entity, from: .text(record, format: .jsonLines))
                }
                #expect(error.message.contains(text), "\(error)")
            }
            try await refused("Party", #"{"name": "x"}"#, "Party is abstract")
            try await refused("Party", #"{"_entity": "Robot"}"#, "Robot")
            try await refused("Human", #"{"_entity": "Firm", "name": "x"}"#, "objects of Human are Human, Worker")
            try await refused("Human", #"{"name": "x", "revenue": 3}"#, "revenue")
            try await refused("Human", #"{"code": "a"}"#, "is of Firm")
            #expect(
                try requireFailure {
                    _ = try stack.startImport(
                        "Visit", from: .text("", format: .csv), options: EntityImportOptions(missingTargets: .createStub))
                }.message.contains("hierarchy"))
        }
        try copy.withClasses { stack in
            try stack.readAndWait { context in
                let parties = try context.fetchAll(From<Party>().orderBy(.ascending("code")))
                #expect(parties.map { "\(type(of: $0))" } == ["Firm", "Human", "Worker", "Worker"])
                #expect((parties[3] as? Worker)?.boss === parties[2] && (parties[0] as? Firm)?.director === parties[1])
            }
        }
    }

    @Test(arguments: Engine.all)
    func invalidRecordsAreReportedWithTheirLines(_ engine: Engine) async throws {
        let folder = try Folder()
        let stack = try Self.stack(engine, folder, Self.world)
        let lines = """
            code,title,cities
            DE,Germany,
            FR,"two
            lines","[[""nowhere"",1]]"
            ,no code,
            IT,Italy,not a list
            DE,again,
            ES,Spain,
            """
        let source = RecordSource.text(lines, format: .csv, name: "countries.csv")
        let error = try await requireFailure { _ = try await stack.importRecords("Country", from: source) }
        #expect(
            error.code == .invalidValue && error.message.contains("countries.csv") && error.message.contains("Nothing was committed"),
            "\(error)")
        #expect(try stack.readAndWait { try $0.fetchCount(EntityQuery("Country")) } == 0)
        let report = try await stack.importRecords(
            "Country", from: source, options: EntityImportOptions(run: ImportOptions(commit: .batches(of: 2), onInvalidRecord: .exclude())))
        #expect(report.inserted == 2 && report.updated == 1 && report.excluded == 3, "\(report)")
        #expect(report.problems.map(\.line) == [3, 5, 6] && report.problems.map(\.field) == ["cities", "code", "cities"], "\(report)")
        let found = try stack.readAndWait { try $0.fetchAll(EntityQuery("Country").orderBy("code")).map { try $0.value("title") } }
        #expect(found == ["again", "Spain"])
    }

    /// An import changes the fields that its records have, and writes no object that already has them.
    @Test(arguments: Engine.all)
    func anImportUpdatesTheFieldsOfItsRecords(_ engine: Engine) async throws {
        let stored = try Stored(engine, Stored.company, Stored.fillCompany)
        try await Stored.opened(stored.configuration, forWriting: true, history: HistoryOptions()) { stack in
            let options = EntityImportOptions(names: ["email": "E-Mail", "age": "years"], ignoresUnknownFields: true)
            let text = "E-Mail,years,height,spouse\nbob,30,1.8,cid\nann,21,1.6,\nnew,5,1,ann\n"
            let report = try await stack.importRecords("Person", from: .text(text, format: .csv), options: options)
            #expect(report.updated == 2 && report.inserted == 1, "\(report)")
            let changes = try stack.historyAndWait().flatMap(\.changes).map(\.description).sorted()
            #expect(changes.contains { $0.hasPrefix("updated Person 2 (spouse)") }, "\(changes)")
            #expect(changes.contains { $0.hasPrefix("updated Person 1 (age") }, "\(changes)")
            try stack.readAndWait { context in
                let bob = try #require(try context.fetchOne(EntityQuery("Person").where("email == 'bob'")))
                #expect(try bob.value("age") == 30 && bob.object("spouse")?.value("email") == "cid")
                #expect(try bob.object("department")?.value("title") == "Research", "a field that the record does not have")
            }
            let error = try await requireFailure { _ = try await stack.importRecords("Person", from: .text(text, format: .csv)) }
            #expect(error.message.contains("E-Mail") && error.message.contains("email"), "\(error)")
        }
    }

    /// Objects without a unique attribute are referred to by their row ids, and each record inserts one.
    @Test(arguments: Engine.all)
    func objectsWithoutUniqueAttributesAreReferredToByRowIDs(_ engine: Engine) async throws {
        let stored = try Stored(engine, Stored.company, Stored.fillCompany)
        try await Stored.opened(stored.configuration, forWriting: true) { stack in
            let people = try await stack.export(
                EntityQuery("Person").where("email == 'ann'"), format: .jsonLines,
                options: EntityExportOptions(properties: ["email", "department"], includesRowIDs: true))
            #expect(String(decoding: people, as: UTF8.self) == "{\"_id\":1,\"email\":\"ann\",\"department\":1}\n")
            let records = #"""
                {"_id": 9, "email": "ann", "department": 2}
                {"email": "eve", "department": {"_id": 1}, "spouse": {"_id": 1}}
                {"email": "fay", "department": 77}
                """#
            let report = try await stack.importRecords(
                "Person", from: .text(records, format: .jsonLines),
                options: EntityImportOptions(run: ImportOptions(onInvalidRecord: .exclude()), rowIDs: .ofStore))
            #expect(report.inserted == 1 && report.updated == 1 && report.problems.map(\.line) == [3], "\(report)")
            let projects = try await stack.importRecords(
                "Project", from: .text("name,owner\na,1\na,1\n", format: .csv), options: EntityImportOptions(rowIDs: .ofStore))
            #expect(projects.inserted == 2)
            try stack.readAndWait { context in
                let ann = try #require(try context.fetchOne(EntityQuery("Person").where("email == 'ann'")))
                #expect(try ann.object("department")?.value("title") == "Sales" && ann.object("spouse")?.value("email") == "eve")
                #expect(try context.fetchCount(EntityQuery("Project").where("owner.title == 'Research'")) == 3)
            }
        }
    }

    @Test(arguments: Engine.all)
    func missingTargetsAreErrorsOrIgnored(_ engine: Engine) async throws {
        let folder = try Folder()
        let stack = try Self.stack(engine, folder, Self.world)
        let source = RecordSource.text(#"{"name": "Paris", "region": 1, "country": "FR"}"#, format: .jsonLines)
        let error = try await requireFailure { _ = try await stack.importRecords("City", from: source) }
        #expect(error.message.contains("country") && error.message.contains("FR"), "\(error)")
        try await stack.importRecords("City", from: source, options: EntityImportOptions(missingTargets: .ignore))
        #expect(try stack.readAndWait { try $0.fetchOne(EntityQuery("City"))?.value("country") } == nil)
        try await stack.importRecords("City", from: source, options: EntityImportOptions(missingTargets: .createStub))
        #expect(try stack.readAndWait { try $0.fetchOne(EntityQuery("City"))?.object("country")?.value("code") } == "FR")
    }

    @Test(arguments: Engine.all)
    func anImportContinuesAfterItsLastBatch(_ engine: Engine) async throws {
        let folder = try Folder()
        let stack = try Self.stack(engine, folder, Self.world)
        let good = (0..<6).map { "{\"code\": \"c\($0)\"}" }
        let path = folder.file("countries.jsonl.gz")
        func write(_ lines: [String]) throws {
            let sink = try GzipByteSink.gzip(path: path)
            try (lines.joined(separator: "\n") + "\n").utf8.withContiguousStorageIfAvailable { try sink.write(UnsafeRawBufferPointer($0)) }
            try sink.finish()
        }
        try write(good.prefix(5) + ["{\"code\": 3}"])
        let options = EntityImportOptions(run: ImportOptions(commit: .batches(of: 2, resume: "countries")))
        let error = try await requireFailure { _ = try await stack.importRecords("Country", from: .gzip(path: path), options: options) }
        #expect(error.message.contains("line 6") && error.message.contains("records up to 4 are committed"), "\(error)")
        try write(good)
        let report = try await stack.importRecords("Country", from: .gzip(path: path), options: options)
        #expect(report.resumedFrom == 4 && report.inserted == 6, "\(report)")
    }

    @Test(arguments: Engine.all)
    func aDryRunChangesNothing(_ engine: Engine) async throws {
        let folder = try Folder()
        let stack = try Self.stack(engine, folder, Self.world)
        let report = try await stack.importRecords(
            "Country", from: .text("code\nFR\n", format: .csv), options: EntityImportOptions(run: ImportOptions(isDryRun: true)))
        #expect(report.inserted == 1 && report.insertedExamples.map(\.uniqueID) == ["\"FR\""])
        #expect(try stack.readAndWait { try $0.fetchCount(EntityQuery("Country")) } == 0)
        #expect(try await Self.text(stack, EntityQuery("Country"), .jsonLines).isEmpty, "an empty store")
        #expect(try await stack.importRecords("Country", from: .text("", format: .jsonLines)).records == 0)
    }

    @Test func unknownNamesAreRefusedBeforeAnythingIsRead() async throws {
        let folder = try Folder()
        let stack = try Self.stack(.files(.sqlite), folder, Self.world)
        let source = RecordSource.file(path: folder.file("missing.csv"))
        func message(_ body: () async throws -> Void) async throws -> String { try await requireFailure { try await body() }.message }
        #expect(try await message { _ = try await stack.importRecords("Town", from: source) }.contains("Town"))
        #expect(
            try await message {
                _ = try await stack.importRecords("City", from: source, options: EntityImportOptions(names: ["town": "x"]))
            }
            .contains("town"))
        #expect(
            try await message {
                _ = try await stack.importRecords("City", from: source, options: EntityImportOptions(names: ["name": "region"]))
            }.contains("region"))
        #expect(
            try await message {
                _ = try await stack.export(EntityQuery("City"), format: .csv, options: EntityExportOptions(properties: ["town"]))
            }.contains("town"))
        let path = folder.file("existing.csv")
        try Data("kept".utf8).write(to: URL(fileURLWithPath: path))
        #expect(
            try await message {
                _ = try await stack.export(EntityQuery("City").where("height > 1"), to: .file(path: path))
            }.contains("height"))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "kept", "a failed export replaces no file")
    }
}
