import EngineTestSupport
import Foundation
import PolyStoreBackend

/// Checks that a child process created with `fork` cannot use a store that its parent has open.
enum Forking {
    static func run(_ store: Store) throws {
        try store.addNotes(1...5, size: 100)
        let reader = try store.backend.beginRead()
        let writer = try store.backend.beginWrite()
        let changes = Changes(store.schema)
        for id in 6...7 as ClosedRange<Int64> { try changes.insert("Note", id, Notes.values(id, size: 100)) }
        try writer.apply(changes.set)
        let status = try forked {
            attempt("beginRead") { _ = try store.backend.beginRead() }
            attempt("beginWrite") { _ = try store.backend.beginWrite() }
            attempt("verify") { _ = try store.backend.verify() }
            attempt("compact") { try store.backend.compact() }
            attempt("copy") { try store.backend.copy(to: CommandLine.arguments[3] + "-copy") }
            attempt("open") { _ = try openStore() }
            attempt("an open reader") { _ = try reader.count(FetchRequest(try store.entity("Note"))) }
            attempt("an open writer") { try writer.apply(changes.set) }
            attempt("commit") { _ = try writer.commit(.full) }
            reader.end()
            writer.rollback()
            attempt("close") { try store.backend.close() }
        }
        say("the child has ended \(status)")
        say("the reader sees \(try reader.count(FetchRequest(try store.entity("Note"))) == 5 ? "1...5" : "something else")")
        reader.end()
        _ = try writer.commit(.full)
        say("committed")
        try store.backend.close()
        say("done")
    }

    private static func attempt(_ what: String, _ body: () throws -> Void) {
        do {
            try body()
            say("\(what) ok")
        } catch { say("\(what) \(code(error))") }
    }
}
