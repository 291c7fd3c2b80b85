import Foundation
import PolyStore
import PolyStoreSQLite
import TestSupport
import Testing

// The programs of docs/guides/importing.md.

@Model
final class Author {
    @Attribute(.unique) var handle: String
    var name: String = ""
    @Relationship(inverse: "author") var books: Set<Book>
}

@Model
final class Book {
    @Attribute(.unique) var isbn: String
    var title: String = ""
    var pages: Int = 0
    var published: Date?
    @Relationship var author: Author?
    @Relationship var seeAlso: Set<Book>
}

struct BookSource: Codable, Sendable {
    var isbn: String?
    var title: String
    var pages: Int
    var author: String?
    var seeAlso: [String]
}

enum Protocols {
    // A separate model, so that the guide can show the methods of the protocol.
    @Model
    final class Magazine {
        @Attribute(.unique) var number: Int
        var title: String = ""
        @Relationship var publisher: Publisher?
    }

    @Model
    final class Publisher {
        @Attribute(.unique) var name: String
    }
}

typealias Magazine = Protocols.Magazine
typealias Publisher = Protocols.Publisher

extension Magazine: ImportableUniqueObject {
    static var uniqueIDKeyPath: WritableKeyPath<Magazine, Int> { \.number }

    static func uniqueID(from source: [String: JSONValue], in transaction: Transaction) throws -> Int? { source["number"]?.int }

    func update(from source: [String: JSONValue], in transaction: Transaction) throws {
        title = try source.require("title")
        try transaction.reference(Into<Publisher>(), uniqueID: source["publisher"]?.string, ifMissing: .createStub)
            .assign(to: \.publisher, on: self)
    }
}

extension Publisher: ImportableUniqueObject {
    static var uniqueIDKeyPath: WritableKeyPath<Publisher, String> { \.name }
    static func uniqueID(from source: String, in transaction: Transaction) throws -> String? { source }
    func update(from source: String, in transaction: Transaction) throws {}
}

extension Author: MappedUniqueObject {
    static var uniqueIDKeyPath: WritableKeyPath<Author, String> { \.handle }
    static let importMapping: RecordMapping<Author> = RecordMapping(uniqueID: "handle").attribute(\.name)
}

extension Book: MappedUniqueObject {
    static var uniqueIDKeyPath: WritableKeyPath<Book, String> { \.isbn }

    static let importMapping: RecordMapping<Book> = RecordMapping(uniqueID: "isbn")
        .attribute(\.title)
        .attribute(\.pages, from: "details.pages", default: 0)
        .attribute(\.published)
        .nested(\.author)
        .relationship(\.seeAlso, separator: ";", ifMissing: .createStub)
}

@Suite
struct ImportingGuideTests {
    private func library() throws -> (DataStack, Folder) {
        let folder = try Folder()
        let stack = try DataStack(Schema("Library", Author.self, Book.self, Magazine.self, Publisher.self))
        try stack.addStore(.sqlite(file: folder.path + "/library.sqlite"))
        return (stack, folder)
    }

    static let books = """
        {"isbn": "1", "title": "One", "details": {"pages": 100}, "author": {"handle": "a", "name": "Ann"}, "seeAlso": ["2"]}
        {"isbn": "2", "title": "Two", "published": "2001-02-03", "author": {"handle": "a", "name": "Ann"}, "seeAlso": []}
        {"isbn": "3", "title": 3, "seeAlso": []}
        {"isbn": "4", "title": "Four", "seeAlso": ["9"]}

        """

    @Test func aTransactionImports() async throws {
        let (stack, folder) = try library()
        let sources: [[String: JSONValue]] = [["number": 7, "title": "Seven", "publisher": "P"], ["number": 8, "title": "Eight"]]
        let numbers = try await stack.perform { transaction in
            let magazines = try transaction.importUniqueObjects(Into<Magazine>(), from: sources)
            return magazines.map(\.number)
        }
        #expect(numbers == [7, 8])
        withExtendedLifetime(folder) {}
    }

    @Test func filesBecomeObjects() async throws {
        let (stack, folder) = try library()
        let path = folder.path + "/books.jsonl"
        try Self.books.write(toFile: path, atomically: true, encoding: .utf8)

        var options = ImportOptions(commit: .batches(of: 1000, resume: "books"))
        options.onInvalidRecord = .exclude(upTo: 100)
        let report = try await stack.importRecords(Into<Book>(), from: .file(path: path), options: options)
        print(report)
        for problem in report.problems { print(problem) }

        #expect(report.inserted == 3 && report.excluded == 1)
        #expect(report.problems.first?.field == "title" && report.problems.first?.line == 3)
        let stored = try await stack.read { context in
            try context.fetchAll(From<Book>().orderBy(.ascending(\.isbn))).map {
                "\($0.isbn) \($0.title) \($0.pages) \($0.author?.name ?? "-")"
            }
        }
        #expect(stored == ["1 One 100 Ann", "2 Two 0 Ann", "4 Four 0 -", "9  0 -"])
    }

    @Test func aDryRunChangesNothing() async throws {
        let (stack, folder) = try library()
        let source = RecordSource.text(Self.books, format: .jsonLines, name: "books")
        var options = ImportOptions(onInvalidRecord: .exclude(), isDryRun: true)
        options.exampleLimit = 5
        let report = try await stack.importRecords(Into<Book>(), from: source, options: options)
        let count = try await stack.read { try $0.fetchCount(From<Book>()) }
        #expect(report.inserted == 3 && report.excluded == 1 && count == 0)
        withExtendedLifetime(folder) {}
    }

    @Test func progressIsShown() async throws {
        let (stack, folder) = try library()
        let source = RecordSource.text(Self.books, format: .jsonLines, name: "books")
        let run = stack.startImport(Into<Book>(), from: source, options: ImportOptions(onInvalidRecord: .exclude()))
        for await progress in run.updates { print(progress) }
        let report = try await run.value
        #expect(report.inserted == 3)
        withExtendedLifetime(folder) {}
    }

    @Test func exportsImportAgain() async throws {
        let (stack, folder) = try library()
        _ = try await stack.importRecords(
            Into<Book>(), from: .text(Self.books, format: .jsonLines, name: "books"), options: ImportOptions(onInvalidRecord: .exclude()))
        let path = folder.path + "/books.csv"
        try await stack.export(From<Book>().orderBy { $0.isbn }, to: .file(path: path))
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.split(whereSeparator: \.isNewline).count == 5)
    }
}
