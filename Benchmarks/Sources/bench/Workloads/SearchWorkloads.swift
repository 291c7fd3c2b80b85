import Foundation
import PeerKit
import PolyStoreCore

/// W23: full-text search through the objects, on the corpus of `search/run.sh`: a file `corpus` in the folder, one document in a line.
///
/// - `W23` inserts all documents in transactions of 1,000, with relaxed durability; `W23c` adds a hundredth of them again, each in a commit of
///   its own
/// - `W23q` opens a store that another process has filled, and fetches only
/// - `W23-QUERY` fetches the best ten objects of a query, as many times as fit into a second, at most 20; the note has the number of objects
///   that match
struct SearchWorkloads {
    private let store: BenchStore
    private static let repetitions = 20
    private static let queries = [
        ("term", "ba"), ("two", "ba be"), ("either", "ba OR be"), ("rare", "zuzo"), ("phrase", "\"ba be\""),
        ("rare-phrase", "\"mid bebi\""), ("prefix", "bo*"),
    ]

    init(_ store: BenchStore) { self.store = store }

    func all() throws {
        try store.remove("search")
        let stack = try DataStack(Schema("W23", Document.self))
        try stack.addStore(store.configuration("search"))
        let texts = try Self.texts(store.folder + "/corpus", PB.n)
        try store.out.time("W23", texts.count, note: "1,000 in a transaction") {
            for start in stride(from: 0, to: texts.count, by: 1000) {
                try insert(texts[start..<min(start + 1000, texts.count)], stack)
            }
            return 0
        }
        let single = texts.prefix(max(1, texts.count / 100))
        var times: [Double] = []
        let start = Stamp()
        for text in single {
            let begin = Stamp()
            try insert([text], stack)
            times.append(Stamp().cpu - begin.cpu)
        }
        let end = Stamp()
        times.sort()
        let note = String(format: "median %.0f us, 99 %% %.0f us", times[times.count / 2] * 1e6, times[times.count * 99 / 100] * 1e6)
        store.out.emit("W23c", single.count, start, end, note: note)
        for (name, query) in Self.queries { try measure(name, query, stack) }
    }

    func queriesOnly() throws {
        let stack = try DataStack(Schema("W23", Document.self))
        try stack.addStore(store.configuration("search"))
        for (name, query) in Self.queries { try measure(name, query, stack) }
    }

    private func measure(_ name: String, _ query: String, _ stack: DataStack) throws {
        var check: UInt64 = 0
        var count = 0
        let matching = try stack.readAndWait { context in try context.fetchCount(From<Document>().where(Where(search: query))) }
        let start = Stamp()
        repeat {
            check = try stack.readAndWait { context in
                try context.fetchAll(From<Document>().search(query).limit(10)).reduce(0) { $0 &+ UInt64($1.body.utf8.count) }
            }
            count += 1
        } while count < Self.repetitions && Stamp().wall - start.wall < 1
        store.out.emit("W23-\(name)", count, start, Stamp(), check: check, note: "\(matching) match")
    }

    private func insert(_ texts: ArraySlice<String>, _ stack: DataStack) throws {
        try stack.performAndWait(durability: .relaxed) { transaction in
            for text in texts { try transaction.create(Into<Document>()).body = text }
        }
    }

    private static func texts(_ path: String, _ count: Int) throws -> [String] {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe)
        return bytes.split(separator: 10, maxSplits: count).prefix(count).map { String(decoding: $0, as: UTF8.self) }
    }
}
