import Foundation
import PolyStore
import PolyStoreBackend
import TestSupport
import Testing

@Model
final class Memorandum {
    @Attribute(.unique) var code: String = ""
    var text: String = ""
    var remark: String?
    #Search(\.text, \.remark, weights: [2, 1])
}

extension Memorandum: MappedUniqueObject {
    static var uniqueIDKeyPath: WritableKeyPath<Memorandum, String> { \.code }
    static let importMapping: RecordMapping<Memorandum> = RecordMapping(uniqueID: "code").attribute(\.text).attribute(\.remark)
}

/// Full-text indexes of entities with a history, and of those that are imported and exported.
@Suite struct SearchTransferTests {
    private static let lines = """
        {"code":"a","text":"lazy \\"dog\\"","remark":null}
        {"code":"b","text":"quick fox","remark":"a fox\\u0000fox"}
        {"code":"c","text":"","remark":"lazy fox"}

        """

    private static func stack(_ backend: Backend, _ folder: Folder, history: HistoryOptions? = nil) throws -> DataStack {
        let stack = try DataStack(Schema("Memoranda", Memorandum.self))
        try stack.addStore(backend.store(in: folder), history: history)
        return stack
    }

    private static func codes(_ stack: DataStack, _ text: String) throws -> [String] {
        try stack.readAndWait { try $0.fetchAll(From<Memorandum>().search(text)).map(\.code) }
    }

    @Test(arguments: Backend.forObjectLayer) func importedObjectsAreFound(_ backend: Backend) async throws {
        let folder = try Folder()
        let stack = try Self.stack(backend, folder)
        let path = folder.file("memoranda.jsonl")
        try Data(Self.lines.utf8).write(to: URL(fileURLWithPath: path))
        #expect(try await stack.importRecords(Into<Memorandum>(), from: .file(path: path)).inserted == 3)
        #expect(try Self.codes(stack, "fox") == ["b", "c"])
        #expect(try Self.codes(stack, "lazy") == ["a", "c"])
        // Changed texts leave the index, and unchanged objects stay.
        let changed = Self.lines.replacingOccurrences(of: "quick fox", with: "hens").replacingOccurrences(of: "a fox", with: "a hen")
        try Data(changed.utf8).write(to: URL(fileURLWithPath: path))
        #expect(try await stack.importRecords(Into<Memorandum>(), from: .file(path: path)).inserted == 0)
        #expect(try Self.codes(stack, "hens") == ["b"])
        #expect(try Self.codes(stack, "lazy") == ["a", "c"])
        // A search selects and orders what is exported.
        let exported = folder.file("lazy.jsonl")
        #expect(try await stack.export(From<Memorandum>().search("lazy"), to: .file(path: exported)).objects == 2)
        let rows = try String(contentsOfFile: exported, encoding: .utf8).split(separator: "\n")
        #expect(rows.map { $0.contains("\"code\":\"a\"") } == [true, false])
    }

    @Test(arguments: Backend.forObjectLayer) func historyRecordsTheObjectsAndNotTheIndex(_ backend: Backend) async throws {
        let folder = try Folder()
        let stack = try Self.stack(backend, folder, history: HistoryOptions(recordsPreviousValues: true))
        let id = try await stack.perform { transaction in
            let made = try transaction.create(Into<Memorandum>())
            (made.code, made.text) = ("a", "lazy dog")
            return made.objectID
        }
        try await stack.perform { transaction in
            if let made = try transaction.fetchOne(From<Memorandum>().search("lazy")) { try transaction.edit(made).text = "quick fox" }
        }
        try await stack.perform { try $0.delete(id) }
        let changes = try await stack.history().flatMap(\.changes)
        #expect(changes.map(\.kind) == [.inserted, .updated, .deleted])
        #expect(changes.map { $0.objectID == id.untyped } == [true, true, true])
        #expect(changes[1].changedKeys.map { "\($0)" } == ["text"])
        #expect(changes[1].previousValues["text"]?.string == "lazy dog")
        try await stack.deleteHistory(before: try await stack.historyToken())
        #expect(try Self.codes(stack, "lazy OR quick") == [])
    }
}
