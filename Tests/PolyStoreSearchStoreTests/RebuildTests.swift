import CSQLite
import EngineTestSupport
import Foundation
import PolyStoreBackend
import PolyStoreKeyValue
import PolyStoreQuery
import PolyStoreSearch
import SeededRandom
import TestSupport
import Testing

@testable import PolyStoreSQLite

/// Indexes that are built again from the records.
@Suite struct RebuildTests {
    private static let plainNames = ["Note_code", "Note_title_body_text", "Note_title_text"]

    private static func fill(_ store: Store, _ ids: ClosedRange<Int64>) throws {
        var random = SplitMix64(seed: 5)
        try store.write { changes in for id in ids { try changes.insert("Note", id, Texts.values(&random, id)) } }
    }

    private static func rebuild(_ store: Store, _ names: Set<String>? = nil) throws {
        try #require(store.backend as? any RebuildsIndexes).rebuildIndexes(names)
    }

    // MARK: Every engine

    @Test(arguments: Backend.allCases) func indexesAreBuiltAgainWithoutAnotherVersion(_ backend: Backend) throws {
        let folder = try Folder()
        let store = try Store(backend.store(in: folder), Texts.schema([Texts.both, Texts.titles]))
        // Without an object, with some, and by each name alone.
        try Self.rebuild(store)
        #expect(try store.backend.verify() == [])
        try Self.fill(store, 1...120)
        try store.write { try $0.delete("Note", 7) }
        let version = try store.read { try $0.version }
        for names in [nil, []] + Self.plainNames.map({ [$0] as Set<String>? }) {
            try Self.rebuild(store, names)
            #expect(try store.searchDifferences(Store.fewSearches) == [])
            #expect(try store.backend.verify() == [])
        }
        #expect(try store.read { try $0.version } == version)
        try store.write { try $0.update("Note", 9, ["title": .text("lazy afterwards")]) }
        #expect(try store.searchDifferences() == [])
        #expect(try store.backend.verify() == [])
    }

    @Test(arguments: Backend.allCases) func unknownNamesAreRefusedBeforeAnIndexIsChanged(_ backend: Backend) throws {
        let folder = try Folder()
        let store = try Store(backend.store(in: folder), Texts.schema([Texts.both]))
        try Self.fill(store, 1...5)
        for name in ["Note_titel_text", "", "Note", "note_code", "Note_code\0"] {
            let error = failure { try Self.rebuild(store, ["Note_code", name]) }
            #expect(error?.code == .notFound)
            #expect(
                error?.message.contains("has no index \"\(name)\". It has Note_code, Note_title_body_text.") == true,
                "\(error?.message ?? "")")
        }
        try store.backend.close()
        #expect(failure { try Self.rebuild(store) }?.code == .closed)
    }

    @Test(arguments: Backend.persistent) func readOnlyStoreIsNotRebuilt(_ backend: Backend) throws {
        let folder = try Folder()
        let written = try Store(backend.store(in: folder), Texts.schema([Texts.both]))
        try Self.fill(written, 1...5)
        try written.backend.close()
        var configuration = backend.store(in: folder)
        configuration.isReadOnly = true
        guard let store = try? Store(configuration, Texts.schema([Texts.both])) else { return #expect(backend == .levelDB) }
        #expect(failure { try Self.rebuild(store) }?.code == .readOnly)
        #expect(failure { try Self.rebuild(store, ["unknown"]) }?.code == .readOnly)
    }

    /// More than one batch, between which others write.
    @Test(arguments: Backend.allCases) func indexIsBuiltAgainWhileOthersWrite(_ backend: Backend) throws {
        let folder = try Folder()
        let store = try Store(backend.store(in: folder), Texts.schema([Texts.both]))
        for start in stride(from: Int64(1), to: 4_501, by: 500) { try Self.fill(store, start...start + 499) }
        let isDone = Flag()
        let ended = DispatchSemaphore(value: 0)
        let failures = Failures()
        Thread.detachNewThread {
            for round in Int64(0)..<100_000 where !isDone.value {
                failures.record {
                    try store.write { changes in
                        try changes.insert("Note", 10_000 + round, ["title": .text("lazy \(round)"), "code": .integer(10_000 + round)])
                        try changes.insert("Note", -1 - round, ["title": .text("dog \(round)"), "code": .integer(-1 - round)])
                        if round < 4_000 { try changes.update("Note", 1 + round, ["body": .text("lazy fox \(round)")]) }
                    }
                }
            }
            ended.signal()
        }
        defer {
            isDone.value = true
            ended.wait()
        }
        try Self.rebuild(store, ["Note_title_body_text"])
        isDone.value = true
        ended.wait()
        ended.signal()
        #expect(failures.all == [])
        #expect(try store.searchDifferences(Store.fewSearches) == [])
        #expect(try store.backend.verify() == [])
    }

    /// The store is closed while an index is built again, which the next opening completes.
    @Test(arguments: Backend.persistent) func closingEndsARebuildThatTheNextOpeningCompletes(_ backend: Backend) throws {
        let folder = try Folder()
        let store = try Store(backend.store(in: folder), Texts.schema([Texts.both]))
        for start in stride(from: Int64(1), to: 4_501, by: 500) { try Self.fill(store, start...start + 499) }
        let ended = DispatchSemaphore(value: 0)
        let failures = Failures()
        let code = Protected(StoreError.Code?.none)
        let rebuilding = try #require(store.backend as? any RebuildsIndexes)
        Thread.detachNewThread {
            do { try rebuilding.rebuildIndexes(["Note_title_body_text"]) } catch {
                code.withLock { $0 = (error as? StoreError)?.code }
                if (error as? StoreError)?.code != .closed { failures.record { throw error } }
            }
            ended.signal()
        }
        let condition = try store.condition("lazy")
        // Begun, or already complete.
        for _ in 0..<1_000 where try store.read({ try $0.search(SearchRequest(condition)) }) != nil { Deadline.pause(milliseconds: 1) }
        try store.backend.close()
        ended.wait()
        #expect(failures.all == [])
        #expect(code.withLock { $0 == nil || $0 == .closed })
        let again = try Store(backend.store(in: folder), Texts.schema([Texts.both]))
        again.waitForIndexes()
        #expect(try again.searchDifferences(Store.fewSearches) == [])
        #expect(try again.backend.verify() == [])
    }

    // MARK: Damage of SQLite

    /// Executes statements as another program does.
    private static func execute(_ folder: Folder, _ sql: String) throws {
        var handle: OpaquePointer?
        try #require(sqlite3_open(folder.file(), &handle) == SQLITE_OK)
        defer { sqlite3_close(handle) }
        try #require(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK, "\(String(cString: sqlite3_errmsg(handle)))")
    }

    @Test(arguments: [
        "UPDATE polystore_search_1 SET v = X'0102'",
        "UPDATE polystore_search_1 SET v = X'FF' WHERE k = X'53'",
        "DELETE FROM polystore_search_1 WHERE k >= X'4D'",
        "DELETE FROM polystore_search_1 WHERE k < X'4D'",
        "DELETE FROM polystore_search_1",
        "INSERT INTO polystore_search_1 VALUES (X'54FFFFFFFFFFFF00', X'00'), (X'00', X''), (X'FF', X'01')",
        "UPDATE Note SET title = 'lazy by another program' WHERE objectID % 3 = 0",
        "DELETE FROM Note WHERE objectID % 3 = 0",
        "INSERT INTO Note (objectID, title, code) VALUES (900, 'lazy by another program', 900)",
    ]) func damagedFullTextIndexIsRepaired(_ sql: String) throws {
        let folder = try Folder()
        let store = try Store(.sqlite(file: folder.file()), Texts.schema([Texts.both, Texts.titles]))
        try Self.fill(store, 1...50)
        #expect(try store.backend.verify() == [])
        try Self.execute(folder, sql)
        let before = try store.backend.verify()
        let isOfTexts = sql.contains(" Note ")
        #expect(before.contains { $0.contains("The index Note_title_") && $0.contains("_text") }, "\(before)")
        // The other index stays as it is.
        let first = "Note_title_body_text"
        let isFirst = before.contains { $0.contains(first) }
        try Self.rebuild(store, [isFirst ? "Note_title_text" : first])
        #expect(try store.backend.verify().contains { $0.contains(isFirst ? first : "Note_title_text") })
        try Self.rebuild(store, isOfTexts ? nil : [isFirst ? first : "Note_title_text"])
        #expect(try store.backend.verify() == [])
        #expect(try store.searchDifferences() == [])
        try store.write { try $0.update("Note", 4, ["title": .text("lazy afterwards")]) }
        #expect(try store.searchDifferences() == [])
    }

    /// Pages of before are not damage while the index is built again.
    @Test func verificationFindsNothingInAnIndexWhoseRebuildHasBegun() throws {
        let folder = try Folder()
        let store = try Store(.sqlite(file: folder.file()), Texts.schema([Texts.both, Texts.titles]))
        for id in Int64(1)...40 { try Self.fill(store, id...id) }
        try Self.execute(folder, "UPDATE polystore_search SET isComplete = 0, built = NULL")
        #expect(try store.backend.verify() == [])
        try store.backend.compact()
        try store.write { try $0.update("Note", 5, ["title": .text("lazy afterwards")]) }
        #expect(try store.backend.verify() == [])
        try Self.rebuild(store)
        #expect(try store.searchDifferences() == [])
        #expect(try store.backend.verify() == [])
    }

    @Test func indexThatAnotherProcessHasRemovedIsNotFound() throws {
        let folder = try Folder()
        let store = try Store(.sqlite(file: folder.file()), Texts.schema([Texts.both]))
        try Self.fill(store, 1...5)
        let other = try Store(.sqlite(file: folder.file()), Texts.schema([]))
        let error = failure { try Self.rebuild(store, ["Note_title_body_text"]) }
        #expect(error?.code == .notFound)
        #expect(error?.message.contains("which the model declares") == true, "\(error?.message ?? "")")
        try Self.rebuild(store)
        #expect(try other.backend.verify() == [])
    }

    @Test func missingTableOfPagesIsCreated() throws {
        let folder = try Folder()
        let store = try Store(.sqlite(file: folder.file()), Texts.schema([Texts.both]))
        try Self.fill(store, 1...50)
        try Self.execute(folder, "DROP TABLE polystore_search_1")
        #expect(try store.backend.verify() == ["The table polystore_search_1 of the index Note_title_body_text is missing."])
        try Self.rebuild(store)
        #expect(try store.backend.verify() == [])
        #expect(try store.searchDifferences() == [])
    }

    @Test(arguments: [true, false]) func damagedPlainIndexIsRepaired(_ isMissing: Bool) throws {
        let folder = try Folder()
        let store = try Store(.sqlite(file: folder.file()), Texts.schema([Texts.both]))
        try Self.fill(store, 1...50)
        try store.backend.close()
        if isMissing {
            try Self.execute(folder, "DROP INDEX Note_code")
        } else {
            // Rows without entries in the index.
            let definition = "UPDATE sqlite_master SET sql = sql || ' WHERE 0' WHERE name = 'Note_code'"
            try Self.execute(folder, "PRAGMA writable_schema = ON; \(definition)")
            try Self.execute(folder, "INSERT INTO Note (objectID, code) VALUES (900, 900)")
            try Self.execute(
                folder, "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, ' WHERE 0', '') WHERE name = 'Note_code'")
        }
        let opened = try Store(.sqlite(file: folder.file()), Texts.schema([Texts.both]))
        let findings = try opened.backend.verify()
        #expect(findings.contains { $0.contains("Note_code") }, "\(findings)")
        try Self.rebuild(opened, ["Note_code"])
        #expect(try opened.backend.verify() == [])
        #expect(failure { try opened.write { try $0.insert("Note", 901, ["code": .integer(isMissing ? 50 : 900)]) } }?.code == .constraint)
    }

    @Test func equalValuesOfAUniqueIndexAreReportedAndNothingIsChanged() throws {
        let folder = try Folder()
        let store = try Store(.sqlite(file: folder.file()), Texts.schema([Texts.both]))
        try Self.fill(store, 1...50)
        try Self.execute(folder, "DROP INDEX Note_code; UPDATE Note SET code = 7 WHERE objectID = 8")
        #expect(failure { try Self.rebuild(store, ["Note_code"]) }?.code == .constraint)
        #expect(try store.values("Note", 8)?["code"] == .integer(7))
        try Self.execute(folder, "UPDATE Note SET code = 8 WHERE objectID = 8")
        try Self.rebuild(store, ["Note_code"])
        #expect(try store.backend.verify() == [])
    }

    // MARK: Refused changes

    /// A change of a document that the index does not have, or has with other texts, is refused in place of making the difference larger.
    @Test func changeOfADocumentThatTheIndexDoesNotHaveIsRefused() throws {
        let folder = try Folder()
        let store = try Store(.sqlite(file: folder.file()), Texts.schema([Texts.both]))
        try Self.fill(store, 1...50)
        try Self.execute(
            folder,
            """
            INSERT INTO Note (objectID, title, code) VALUES (900, 'lazy by another program', 900);
            UPDATE Note SET title = 'one two three four five six seven eight', body = 'nine ten eleven twelve thirteen fourteen' WHERE objectID = 3
            """)
        let errors = [
            failure { try store.write { try $0.update("Note", 900, ["title": .text("more")]) } },
            failure { try store.write { try $0.delete("Note", 900) } },
            failure { try store.write { try $0.update("Note", 3, ["body": .text("more")]) } },
        ].compactMap { $0 }
        #expect(errors.count == 3)
        for error in errors {
            #expect(error.code == .corrupt && error.entity == "Note")
            #expect(error.message.contains("The full-text index Note_title_body_text of Note in "), "\(error)")
            #expect(error.message.contains("To build it again from the texts, call rebuildIndexes."), "\(error)")
        }
        // Other fields and other objects can be changed.
        try store.write { try $0.update("Note", 900, ["number": .integer(3)]) }
        try store.write { try $0.update("Note", 5, ["title": .text("lazy afterwards")]) }
        try Self.rebuild(store, ["Note_title_body_text"])
        try store.write { changes in
            try changes.delete("Note", 900)
            try changes.update("Note", 3, ["body": .text("more")])
        }
        #expect(try store.searchDifferences() == [])
        #expect(try store.backend.verify() == [])
    }
}

/// A Boolean value that several threads use.
private final class Flag: Sendable {
    private let state = Protected(false)
    var value: Bool {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

/// The errors of a thread.
private final class Failures: Sendable {
    private let state = Protected<[String]>([])
    var all: [String] { state.withLock { $0 } }
    func record(_ body: () throws -> Void) {
        do { try body() } catch { state.withLock { $0.append("\(error)") } }
    }
}
