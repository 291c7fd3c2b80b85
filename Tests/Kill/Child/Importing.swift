import Foundation
import PolyStore

/// An entity without a unique id: importing a record twice creates two objects.
@Model
final class Row {
    @Attribute(.indexed) var number: Int
    var payload: String = ""
    #Search(\.payload)
}

/// The same entity without its full-text index.
@Model(entity: "Row")
final class PlainRow {
    @Attribute(.indexed) var number: Int
    var payload: String = ""
}

extension Row: ImportableObject {
    func didInsert(from source: SourceRecord, in transaction: Transaction) throws {
        number = try source.require("number")
        payload = try source.require("payload")
        // Counts in the transaction of the batch.
        let counter = try transaction.fetchOne(From<Counter>()) ?? transaction.create(Into<Counter>())
        counter.value += 1
    }
}

/// A file whose import resumes after each kill.
enum Importing {
    /// Returns whether a record is damaged: every hundredth one is.
    static func isBad(_ number: Int) -> Bool { number % 100 == 50 }

    static func payload(_ number: Int) -> String { "row " + String(repeating: "\(number),", count: 1 + number * 37 % 60) }

    static func makeFile(_ path: String, _ count: Int) throws {
        let lines = (1...count).map { number in
            isBad(number) ? "{\"number\": \(number)\n" : "{\"number\": \(number), \"payload\": \"\(payload(number))\"}\n"
        }
        try Data(lines.joined().utf8).write(to: URL(fileURLWithPath: path))
    }

    /// Imports the file, and prints the report when the import is complete.
    static func run(_ stack: DataStack, _ path: String) throws {
        var options = ImportOptions(commit: .batches(of: 20, resume: "rows"), onInvalidRecord: .exclude())
        // The previous process may have been killed after its last commit.
        options.skipsCompleted = true
        let report = try stack.importRecordsAndWait(Into<Row>(), from: .file(path: path), options: options)
        print("\(report.records) records, \(report.inserted) inserted, \(report.excluded) refused")
    }

    static func check(_ stack: DataStack, _ store: PersistentStore, _ count: Int) throws {
        let findings = try store.verifyAndWait()
        guard findings.isEmpty else { fail("the store is damaged: \(findings)") }
        let (value, rows) = try stack.readAndWait { context in
            (try context.fetchOne(From<Counter>())?.value ?? 0, try context.fetchAll(From<Row>()).map { ($0.number, $0.payload) })
        }
        let expected = (1...count).filter { !isBad($0) }
        guard rows.map(\.0).sorted() == expected else {
            let counts = Dictionary(grouping: rows, by: \.0).mapValues(\.count)
            let lost = expected.filter { counts[$0] == nil }
            let twice = counts.filter { $0.value > 1 }.map(\.key).sorted()
            fail("\(rows.count) of \(expected.count) rows: lost \(lost.prefix(10)), imported twice \(twice.prefix(10))")
        }
        guard value == expected.count else { fail("the counter is at \(value), and there are \(rows.count) rows") }
        for (number, text) in rows where text != payload(number) { fail("row \(number) is torn") }
        try search(stack, expected)
        print("\(rows.count) rows")
    }

    /// Searches a word of every row, and for some numbers the word and the phrase that only the row with the number has.
    private static func search(_ stack: DataStack, _ expected: [Int]) throws {
        func find(_ text: String) throws -> [Int] {
            try stack.readAndWait { try $0.fetchAll(From<Row>().search(text)).map(\.number).sorted() }
        }
        guard try find("row") == expected else { fail("the search row does not find every row") }
        for number in expected.prefix(60) + expected.suffix(60) {
            guard try find("\(number)") == [number], try find("\"row \(number)\"") == [number] else {
                fail("the search \(number) does not find its row alone")
            }
        }
        let refused = try find("50 OR 150")
        guard refused.isEmpty else { fail("a search finds the refused rows \(refused)") }
    }
}
