import Foundation
import PolyStoreBackend
import PolyStoreCore
import PolyStoreFormats
import TestSupport
import Testing

/// References between exported and imported objects without classes: by unique ids, by row ids, and in hierarchies.
@Suite struct DynamicReferenceTests {
    private static func attribute(_ name: String, _ type: AttributeType = .string, unique: Bool = false) -> PropertyDescription {
        .attribute(AttributeDescription(name: name, type: type, isOptional: true, isUnique: unique))
    }

    private static func toOne(_ name: String, _ destination: String, inverse: String? = nil) -> PropertyDescription {
        .relationship(RelationshipDescription(name: name, destination: destination, isToMany: false, inverse: inverse))
    }

    private static func toMany(_ name: String, _ destination: String, ordered: Bool = false) -> PropertyDescription {
        .relationship(RelationshipDescription(name: name, destination: destination, isToMany: true, isOrdered: ordered))
    }

    private static func schema(_ entities: EntityDescription...) -> SchemaDescription {
        SchemaDescription(name: "References", entities: entities)
    }

    /// Tags with an optional code, and posts that lead to them.
    private static let tags = schema(
        EntityDescription(name: "Tag", properties: [attribute("code", unique: true), toOne("parent", "Tag"), attribute("title")]),
        EntityDescription(
            name: "Post", properties: [attribute("name", unique: true), toOne("tag", "Tag"), toMany("tags", "Tag", ordered: true)]))

    /// Tasks without a unique attribute, in an order of their own, and boards that lead to them.
    private static let tasks = schema(
        EntityDescription(
            name: "Task",
            properties: [attribute("title"), toOne("parent", "Task"), toMany("after", "Task", ordered: true), toOne("board", "Board")]),
        EntityDescription(name: "Board", properties: [attribute("name"), toOne("first", "Task")]))

    /// A hierarchy in which only employees and firms have unique ids, and only employees have assistants.
    private static var people: SchemaDescription {
        var party = EntityDescription(
            name: "Party",
            properties: [
                .attribute(AttributeDescription(name: EntityHierarchy.classifier, type: .string)), attribute("name"),
                toOne("friend", "Party"), attribute("badge", unique: true),
                toOne("boss", "Party", inverse: "team"),
                .relationship(RelationshipDescription(name: "team", destination: "Party", isToMany: true, inverse: "boss")),
                attribute("vat", unique: true),
            ])
        party.hierarchy = EntityHierarchy(
            isAbstract: true, properties: ["name", "friend"],
            subentities: [
                SubentityDescription(name: "Human", parent: "Party", isAbstract: false, properties: [], required: []),
                SubentityDescription(
                    name: "Employee", parent: "Human", isAbstract: false, properties: ["badge", "boss", "team"], required: []),
                SubentityDescription(name: "Firm", parent: "Party", isAbstract: false, properties: ["vat"], required: []),
            ])
        return schema(party)
    }

    private static func stack(_ engine: Engine, _ folder: Folder, _ schema: SchemaDescription, _ name: String = "new") throws -> DataStack {
        let stack = try DataStack(Schema(schema))
        try stack.addStore(engine.store(in: folder, name))
        return stack
    }

    private static func text(
        _ stack: DataStack, _ entity: String, _ format: RecordFormat = .jsonLines, ids: Bool = false, by order: String = "name"
    ) async throws -> String {
        let options = EntityExportOptions(includesRowIDs: ids)
        return String(decoding: try await stack.export(EntityQuery(entity).orderBy(order), format: format, options: options), as: UTF8.self)
    }

    // MARK: Null in unique ids

    @Test(arguments: Engine.all)
    func targetsWithoutAValueOfTheUniqueAttributeAreWrittenAsRowIDs(_ engine: Engine) async throws {
        let folder = try Folder()
        let stack = try Self.stack(engine, folder, Self.tags)
        try stack.performAndWait { transaction in
            let tags = try ["a", nil, "q\"'\0"].map { try transaction.create("Tag", ["code": $0.map { .text($0) }]) }
            let post = try transaction.create("Post", ["name": "p", "tag": .objectID(tags[1].id)])
            try post.set("tags", to: [tags[2], tags[1], tags[0]])
        }
        let expected = #"{"name":"p","tag":{"_id":2},"tags":["q\"'\u0000",{"_id":2},"a"]}"# + "\n"
        #expect(try await Self.text(stack, "Post") == expected)
        let ofStore = EntityImportOptions(rowIDs: .ofStore)
        for format in [RecordFormat.jsonLines, .json, .csv] {
            let text = try await Self.text(stack, "Post", format)
            try stack.performAndWait { _ = try $0.deleteAll(EntityQuery("Post")) }
            try await stack.importRecords("Post", from: .text(text, format: format), options: ofStore)
            #expect(try await Self.text(stack, "Post") == expected, "\(format)")
        }
        // The tag is not a record of the import, and its row id in another store means nothing.
        let error = try await requireFailure { _ = try await stack.importRecords("Post", from: .text(expected, format: .jsonLines)) }
        #expect(error.message.contains("Tag by the row id 2") && error.message.contains("unique attribute"), "\(error)")
        let ignoring = EntityImportOptions(missingTargets: .ignore)
        try await stack.importRecords("Post", from: .text(expected, format: .jsonLines), options: ignoring)
        #expect(try await Self.text(stack, "Post") == #"{"name":"p","tag":null,"tags":["q\"'\u0000","a"]}"# + "\n")
    }

    @Test(arguments: Engine.all)
    func objectsWithAndWithoutUniqueIDsReferToEachOtherInOneImport(_ engine: Engine) async throws {
        let folder = try Folder()
        let records = """
            {"_id":1,"code":"a","parent":{"_id":9},"title":"one"}
            {"_id":9,"code":null,"parent":{"_id":9},"title":"nine"}
            {"_id":4,"code":null,"parent":"z","title":"three"}
            {"_id":7,"code":"z","parent":"a","title":"zed"}
            """
        let stack = try Self.stack(engine, folder, Self.tags)
        try await stack.importRecords("Tag", from: .text(records, format: .jsonLines))
        try stack.readAndWait { context in
            let parents = try context.fetchAll(EntityQuery("Tag").orderBy("title")).map { try $0.object("parent")?.value("title") }
            #expect(parents == ["nine", "nine", "zed", "one"])
        }
        // The last of several records of one object counts, whichever way they name the target.
        let again = """
            {"_id":9,"code":"z","parent":{"_id":9}}
            {"code":"z","parent":"a"}
            {"code":"a","parent":"z"}
            {"code":"a","parent":{"_id":9}}
            """
        try await stack.importRecords("Tag", from: .text(again, format: .jsonLines))
        let found = try stack.readAndWait {
            try $0.fetchAll(EntityQuery("Tag").where("code != nil").orderBy("code")).map { try $0.object("parent")?.value("code") }
        }
        #expect(found == ["z", "a"])
    }

    /// Also of a record that changes nothing else, whose object exists.
    @Test(arguments: Engine.all)
    func aRecordWithAMissingTargetIsExcluded(_ engine: Engine) async throws {
        let folder = try Folder()
        let stack = try Self.stack(engine, folder, Self.tags)
        try stack.performAndWait { transaction in
            for code in ["a", "b"] { try transaction.create("Tag", ["code": .text(code)]) }
        }
        let excluding = EntityImportOptions(run: ImportOptions(onInvalidRecord: .exclude()))
        for target in [#"{"_id":77}"#, #""nowhere""#] {
            let records = #"{"code":"a","parent":"b"}"# + "\n" + #"{"code":"b","parent":\#(target)}"#
            let report = try await stack.importRecords("Tag", from: .text(records, format: .jsonLines), options: excluding)
            #expect(report.problems.map(\.line) == [2] && report.problems.first?.field == "parent", "\(report)")
            #expect(report.updated == 1)
        }
    }

    // MARK: Row ids

    /// The row ids of a store with gaps are not those of the objects that an import inserts.
    @Test(arguments: Engine.all, ["jsonl", "csv"])
    func rowIDsLeadToTheRecordsThatHaveThem(_ engine: Engine, _ name: String) async throws {
        let format: RecordFormat = name == "csv" ? .csv : .jsonLines
        let folder = try Folder()
        let old = try Self.stack(engine, folder, Self.tasks, "old")
        try old.performAndWait { transaction in
            for number in 0..<6 { try transaction.create("Task", ["title": .text("gone \(number)")]) }
        }
        try old.performAndWait { transaction in
            try transaction.deleteAll(EntityQuery("Task"))
            let tasks = try ["a", "b", "c", "d"].map { try transaction.create("Task", ["title": .text($0)]) }
            try tasks[0].set("parent", to: tasks[3])
            try tasks[1].set("parent", to: tasks[1])
            try tasks[3].set("parent", to: tasks[2])
            try tasks[2].set("after", to: [tasks[3], tasks[0], tasks[2]])
        }
        let text = try await Self.text(old, "Task", format, ids: true, by: "title")
        let new = try Self.stack(engine, folder, Self.tasks)
        // The first row of the store is not one of the import.
        try new.performAndWait { _ = try $0.create("Task", ["title": "other"]) }
        try await new.importRecords("Task", from: .text(text, format: format))
        try new.readAndWait { context in
            let tasks = try context.fetchAll(EntityQuery("Task").where("title != 'other'").orderBy("title"))
            #expect(try tasks.map { try $0.object("parent")?.value("title") } == ["d", "b", nil, "c"])
            #expect(try tasks.map { try $0.objects("after").map { try $0.value("title") } } == [[], [], ["d", "a", "c"], []])
        }
    }

    @Test(arguments: Engine.all)
    func rowIDsOfNoRecordAreRefused(_ engine: Engine) async throws {
        let folder = try Folder()
        let stack = try Self.stack(engine, folder, Self.tasks)
        try stack.performAndWait { transaction in
            for number in 0..<3 { try transaction.create("Task", ["title": .text("\(number)")]) }
            try transaction.create("Board", ["name": "b"])
        }
        let lines = #"""
            {"_id":1,"title":"a","parent":2}
            {"_id":5,"title":"b","parent":1}
            {"_id":6,"title":"c","board":1}
            {"_id":7,"title":"d","parent":5}
            {"_id":8,"title":"twice"}
            {"_id":8,"title":"twice"}
            {"_id":"x","title":"e","after":[8]}
            {"title":"f","parent":{"_id":9}}
            {"_id":9,"title":"g"}
            """#
        let source = RecordSource.text(lines, format: .jsonLines)
        let error = try await requireFailure { _ = try await stack.importRecords("Task", from: source) }
        #expect(error.code == .invalidValue, "\(error)")
        let excluding = EntityImportOptions(run: ImportOptions(onInvalidRecord: .exclude()))
        let report = try await stack.importRecords("Task", from: source, options: excluding)
        #expect(report.problems.compactMap(\.line).sorted() == [1, 2, 3, 4, 7], "\(report)")
        #expect(report.problems.contains { $0.field == "board" && "\($0)".contains("Board by the row id 1") }, "\(report)")
        #expect(report.problems.contains { $0.field == "parent" && "\($0)".contains("leads to Task 2") }, "\(report)")
        #expect(try stack.readAndWait { try $0.fetchCount(EntityQuery("Task")) } == 7)
        let parent = EntityQuery("Task").where("title == 'f'")
        #expect(try stack.readAndWait { try $0.fetchOne(parent)?.object("parent")?.value("title") } == "g")
        // With the option they are rows of the store.
        let rows = #"{"_id":1,"title":"h","parent":2,"board":{"_id":1}}"#
        let ofStore = EntityImportOptions(rowIDs: .ofStore)
        try await stack.importRecords("Task", from: .text(rows, format: .jsonLines), options: ofStore)
        try stack.readAndWait { context in
            let task = try #require(try context.fetchOne(EntityQuery("Task").where("title == 'h'")))
            #expect(try task.object("parent")?.value("title") == "1" && task.object("board")?.value("name") == "b")
        }
        let missing = #"{"title":"i","parent":4711}"#
        let refusal = try await requireFailure {
            _ = try await stack.importRecords("Task", from: .text(missing, format: .jsonLines), options: ofStore)
        }
        #expect(refusal.message.contains("Task 4711, which does not exist"), "\(refusal)")
    }

    /// A record finds those of earlier batches, and a batch that is imported again without its invalid records has the rows of the second attempt.
    @Test(arguments: Engine.all)
    func rowIDsOfEarlierBatchesAreKnown(_ engine: Engine) async throws {
        let folder = try Folder()
        let stack = try Self.stack(engine, folder, Self.tasks)
        let lines = #"""
            {"_id":30,"title":"a"}
            {"_id":20,"title":3,"parent":30}
            {"_id":10,"title":"b","parent":30}
            {"_id":11,"title":"c","parent":10}
            {"_id":12,"title":"d","after":[11,30,10]}
            {"_id":13,"title":"e","parent":20}
            {"_id":14,"title":"f","parent":15}
            {"_id":15,"title":"g","parent":12}
            """#
        for size in 1...4 {
            try stack.performAndWait { _ = try $0.deleteAll(EntityQuery("Task")) }
            let run = ImportOptions(commit: .batches(of: size), onInvalidRecord: .exclude())
            let report = try await stack.importRecords(
                "Task", from: .text(lines, format: .jsonLines), options: EntityImportOptions(run: run))
            // The record after it is in its batch, unless each record has its own.
            #expect(report.problems.compactMap(\.line).sorted() == [2, 6] + (size == 1 ? [7] : []), "\(size): \(report)")
            try stack.readAndWait { context in
                let tasks = try context.fetchAll(EntityQuery("Task").orderBy("title"))
                let parents = try tasks.map { try $0.object("parent")?.value("title") }
                #expect(parents == [nil, "a", "b", nil] + (size == 1 ? [] : ["g"]) + ["d"], "\(size)")
                #expect(try tasks[3].objects("after").map { try $0.value("title") } == ["c", "a", "b"])
            }
        }
    }

    // MARK: Names

    @Test(arguments: Engine.all)
    func attributesWithTheNamesOfSpecialFieldsKeepTheirValues(_ engine: Engine) async throws {
        let folder = try Folder()
        let schema = Self.schema(
            EntityDescription(
                name: "Item",
                properties: [
                    Self.attribute("_id", unique: true), Self.attribute("_entity"), Self.attribute("name"), Self.toOne("next", "Item"),
                ]))
        let old = try Self.stack(engine, folder, schema, "old")
        try old.performAndWait { transaction in
            let first = try transaction.create("Item", ["_id": "x", "_entity": "Robot", "name": "a"])
            try transaction.create("Item", ["_id": "12", "name": "b", "next": .objectID(first.id)])
        }
        let text = try await Self.text(old, "Item")
        #expect(
            text == #"{"_id":"x","_entity":"Robot","name":"a","next":null}"# + "\n" + #"{"_id":"12","_entity":null,"name":"b","next":"x"}"#
                + "\n")
        let new = try Self.stack(engine, folder, schema)
        for _ in 0..<2 {
            try await new.importRecords("Item", from: .text(text, format: .jsonLines))
            #expect(try await Self.text(new, "Item") == text)
        }
        let error = try await requireFailure { _ = try await Self.text(old, "Item", ids: true) }
        #expect(error.code == .misuse && error.message.contains("Rename"), "\(error)")
        let renamed = EntityExportOptions(properties: ["_id"], names: ["_id": "id"], includesRowIDs: true)
        let data = try await old.export(EntityQuery("Item").where("name == 'a'"), format: .jsonLines, options: renamed)
        #expect(String(decoding: data, as: UTF8.self) == #"{"_id":1,"id":"x"}"# + "\n")
    }

    // MARK: Hierarchies

    @Test(arguments: Engine.all)
    func aReferenceUsesTheUniqueIDThatAllOfItsTargetsHave(_ engine: Engine) async throws {
        let folder = try Folder()
        let old = try Self.stack(engine, folder, Self.people, "old")
        try old.performAndWait { transaction in
            let (ann, bob) = (
                try transaction.create("Human", ["name": "Ann"]), try transaction.create("Employee", ["name": "Bob", "badge": "b"])
            )
            let cid = try transaction.create(
                "Employee", ["name": "Cid", "badge": "c", "friend": .objectID(ann.id), "boss": .objectID(bob.id)])
            let dan = try transaction.create("Employee", ["name": "Dan", "friend": .objectID(cid.id), "boss": .objectID(cid.id)])
            try transaction.create("Employee", ["name": "Eve", "badge": "e", "boss": .objectID(dan.id)])
            try ann.set("friend", to: transaction.create("Firm", ["name": "Firm", "vat": "f"]))
        }
        let text = try await Self.text(old, "Party", .jsonLines, ids: true)
        #expect(text.contains(#""name":"Cid","friend":1,"badge":"c","boss":"b""#), "\(text)")
        #expect(text.contains(#""name":"Eve","friend":null,"badge":"e","boss":{"_id":4}"#), "\(text)")
        let new = try Self.stack(engine, folder, Self.people)
        try new.performAndWait { _ = try $0.create("Human", ["name": "Aaron"]) }
        for format in [RecordFormat.jsonLines, .csv] {
            try new.performAndWait { _ = try $0.deleteAll(EntityQuery("Party")) }
            let records = try await Self.text(old, "Party", format, ids: true)
            try await new.importRecords("Party", from: .text(records, format: format))
            try new.readAndWait { context in
                let parties = try context.fetchAll(EntityQuery("Party").orderBy("name"))
                #expect(parties.map(\.entityName) == ["Human", "Employee", "Employee", "Employee", "Employee", "Firm"])
                #expect(try parties.map { try $0.object("friend")?.value("name") } == ["Firm", nil, "Ann", "Cid", nil, nil])
                #expect(try parties[1...4].map { try $0.object("boss")?.value("name") } == [nil, "Bob", "Cid", "Dan"])
            }
        }
    }

    @Test(arguments: Engine.all)
    func anImportFindsObjectsByTheUniqueIDOfTheirClass(_ engine: Engine) async throws {
        let folder = try Folder()
        let stack = try Self.stack(engine, folder, Self.people)
        func imported(_ entity: String, _ records: String) async throws -> [Int] {
            let report = try await stack.importRecords(entity, from: .text(records, format: .jsonLines))
            return [report.inserted, report.updated]
        }
        #expect(try await imported("Employee", #"{"badge": "b", "name": "Bob"}"#) == [1, 0])
        #expect(try await imported("Employee", #"{"badge": "b", "name": "Rob"}"#) == [0, 1])
        #expect(try await imported("Human", #"{"_entity": "Employee", "badge": "b", "name": "Bob"}"#) == [0, 1])
        #expect(try await imported("Human", #"{"name": "Ann"}"#) == [1, 0])
        let error = try await requireFailure { _ = try await imported("Firm", #"{"vat": "f", "name": "Firm"}"#) }
        #expect(error.code == .misuse && error.message.contains("vat") && error.message.contains("badge"), "\(error)")
    }
}
