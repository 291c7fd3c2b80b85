import Foundation
import PolyStore
import TestSupport

/// Its import can change unique ids: its own, and those of other articles.
@Model
final class Article {
    @Attribute(.unique) var code: Int
    var text: String = ""
    var updates: Int = 0
    @Attribute(.range(0...100)) var rank: Int = 0
}

/// The error that the model throws for a refused article.
struct RefusedArticle: Error, CustomStringConvertible {
    let description = "the article is refused"
}

/// The source of an article.
struct ArticleSource: Sendable, Equatable {
    /// The unique id; `nil` for a source without one.
    var code: Int?
    var text = ""
    /// The unique id that the update assigns.
    var newCode: Int?
    /// The unique id of another article, whose id the update exchanges with its own.
    var swapsWith: Int?
    /// The unique id of another article, and the one that the update assigns to it.
    var moves: (from: Int, to: Int)?
    /// A source that the update imports.
    var twin: [ArticleSource] = []
    var rank = 0
    var skips = false
    var fails = false
    var failsID = false
    /// A Boolean value that indicates whether the line of the record is not JSON.
    var isUnreadable = false

    static func == (left: Self, right: Self) -> Bool { left.line == right.line }

    /// The source as a line of JSON Lines.
    var line: String { isUnreadable ? "not JSON\n" : object + "\n" }

    private var object: String {
        var fields = ["\"text\": \"\(text)\""]
        if let code { fields.append("\"code\": \(code)") }
        if let newCode { fields.append("\"new\": \(newCode)") }
        if let swapsWith { fields.append("\"swap\": \(swapsWith)") }
        if let moves { fields.append("\"from\": \(moves.from), \"to\": \(moves.to)") }
        if let first = twin.first { fields.append("\"twin\": \(first.object)") }
        if rank != 0 { fields.append("\"rank\": \(rank)") }
        if skips { fields.append("\"skips\": true") }
        if fails { fields.append("\"fails\": true") }
        if failsID { fields.append("\"failsID\": true") }
        return "{" + fields.joined(separator: ", ") + "}"
    }

    /// Decodes a record that ``line`` wrote.
    init(_ fields: JSONObject) {
        text = fields["text"]?.string ?? ""
        code = fields["code"]?.int
        newCode = fields["new"]?.int
        swapsWith = fields["swap"]?.int
        if let from = fields["from"]?.int, let to = fields["to"]?.int { moves = (from, to) }
        if let first = fields["twin"]?.object { twin = [ArticleSource(first)] }
        rank = fields["rank"]?.int ?? 0
        skips = fields["skips"]?.bool ?? false
        fails = fields["fails"]?.bool ?? false
        failsID = fields["failsID"]?.bool ?? false
    }

    init(_ code: Int?, _ text: String = "", newCode: Int? = nil) { (self.code, self.text, self.newCode) = (code, text, newCode) }
}

extension Article: ImportableUniqueObject {
    static var uniqueIDKeyPath: ReferenceWritableKeyPath<Article, Int> { \.code }

    static func uniqueID(from source: SourceRecord, in transaction: Transaction) throws -> Int? {
        let source = ArticleSource(source.fields)
        if source.failsID { throw RefusedArticle() }
        return source.code
    }

    static func shouldInsert(from source: SourceRecord, in transaction: Transaction) throws -> Bool { !ArticleSource(source.fields).skips }
    static func shouldUpdate(from source: SourceRecord, in transaction: Transaction) throws -> Bool { !ArticleSource(source.fields).skips }

    func update(from record: SourceRecord, in transaction: Transaction) throws {
        let source = ArticleSource(record.fields)
        text += source.text
        updates += 1
        rank = source.rank
        if let newCode = source.newCode { code = newCode }
        if let other = source.swapsWith, let article = try transaction.fetchOne(From<Article>(), Where(\.code == other)) {
            (code, article.code) = (article.code, code)
        }
        if let (from, to) = source.moves, let article = try transaction.fetchOne(From<Article>(), Where(\.code == from)) {
            article.code = to
        }
        if let twin = record["twin"]?.object {
            try transaction.importUniqueObject(Into<Article>(), from: SourceRecord(fields: twin, position: record.position))
        }
        if source.fails { throw RefusedArticle() }
    }
}

/// Its errors quote the values that they refuse.
@Model
final class Strict {
    var code: Int = 0
}

/// The error of a value that is not a number.
struct NotANumber: Error, CustomStringConvertible {
    let description: String
}

extension Strict: ImportableObject {
    func didInsert(from source: SourceRecord, in transaction: Transaction) throws {
        guard let number = source["code"]?.int else { throw NotANumber(description: "not a number: \(source["code"]?.string ?? "")") }
        code = number
    }
}

/// A stack with articles in one store.
final class Articles: Sendable {
    let folder: Folder
    let stack: DataStack
    let logger = RecordingLogger()

    init(_ backend: Backend) throws {
        folder = try Folder()
        stack = try DataStack(Schema("Articles 1", Article.self, Strict.self), logger: logger)
        // Independent of the speed of the machine.
        stack.snapshotWarningAge = .seconds(100_000)
        try stack.addStore(backend.store(in: folder).durability(.relaxed))
    }

    /// All articles: their unique ids, the texts of their sources, and the number of those.
    func contents() throws -> [String] {
        try stack.readAndWait { context in
            try context.fetchAll(From<Article>().orderBy(.ascending(\.code))).map { "\($0.code) \($0.text) \($0.updates)" }
        }
    }

    /// Removes all articles.
    func clear() throws { try stack.performAndWait { transaction in _ = try transaction.deleteAll(From<Article>()) } }

    @discardableResult
    func importLines(_ sources: [ArticleSource], _ options: ImportOptions, name: String = "articles.jsonl") throws -> ImportReport {
        try stack.importRecordsAndWait(
            Into<Article>(), from: .text(sources.map(\.line).joined(), format: .jsonLines, name: name), options: options)
    }
}

/// Returns a source as a record of a transaction.
func record(_ source: ArticleSource) throws -> SourceRecord {
    let reader = try RecordSource.text(source.line, format: .jsonLines).makeReader()
    guard let record = try reader.next() else { throw RefusedArticle() }
    return record
}
