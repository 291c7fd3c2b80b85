import Foundation
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreSQLite

@Suite struct IsolationTests {
    private static func counter(_ folder: Folder, timeout: Duration = .seconds(3600)) throws -> Store {
        var options = SQLiteOptions()
        options.busyTimeout = timeout
        let schema = try Models.single("Counter", [.attribute(AttributeDescription(name: "value", type: .int64, isOptional: true))])
        return try Store(folder.file("test.sqlite"), schema, options: options)
    }

    @Test func readerKeepsItsSnapshot() throws {
        let folder = try Folder()
        let store = try Self.counter(folder)
        try store.write { try $0.insert("Counter", 1, ["value": .integer(1)]) }
        let entity = try store.entity("Counter")
        let old = try store.backend.beginRead()
        try store.write { changes in
            try changes.update("Counter", 1, ["value": .integer(2)])
            try changes.insert("Counter", 2)
        }
        #expect(try old.version == 1)
        #expect(try old.values(entity, 1) == ["value": .integer(1)])
        #expect(try old.count(FetchRequest(entity)) == 1)
        #expect(try store.read { (try $0.version, try $0.count(FetchRequest(entity))) } == (2, 2))
        old.end()
        old.end()
        #expect(try requireFailure { _ = try old.record(entity, rowID: 1) }.code == .closed)
        #expect(try requireFailure { _ = try old.scan(FetchRequest(entity)) }.code == .closed)
        #expect(try requireFailure { _ = try old.count(FetchRequest(entity)) }.code == .closed)
    }

    @Test func pendingChangesAreVisibleOnlyToTheirWriter() throws {
        let folder = try Folder()
        let store = try Self.counter(folder)
        let entity = try store.entity("Counter")
        let writer = try store.backend.beginWrite()
        let changes = Changes(store.schema)
        for id in 1...3 { try changes.insert("Counter", Int64(id), ["value": .integer(5)]) }
        try writer.apply(changes.set)
        #expect(try writer.version == 0)
        #expect(try writer.ids(FetchRequest(entity)) == [1, 2, 3])
        #expect(try store.ids(FetchRequest(entity)) == [])
        writer.rollback()
        writer.rollback()
        #expect(try requireFailure { try writer.apply(changes.set) }.code == .closed)
        #expect(try requireFailure { _ = try writer.commit(.full) }.code == .closed)
        #expect(try store.ids(FetchRequest(entity)) == [])
        #expect(try store.read { try $0.version } == 0)
    }

    @Test func releasedTransactionRollsBack() throws {
        let folder = try Folder()
        let store = try Self.counter(folder)
        let entity = try store.entity("Counter")
        for _ in 0..<3 {
            let writer = try store.backend.beginWrite()
            let changes = Changes(store.schema)
            try changes.insert("Counter", 1)
            try writer.apply(changes.set)
            _ = try store.backend.beginRead()
        }
        #expect(try store.ids(FetchRequest(entity)) == [])
        #expect(try store.write { try $0.insert("Counter", 1) } == 1)
    }

    @Test func cursorsEndWithTheirTransaction() throws {
        let folder = try Folder()
        let store = try Self.counter(folder)
        try store.write { changes in for id in 1...10 { try changes.insert("Counter", Int64(id)) } }
        let entity = try store.entity("Counter")
        let first = try store.backend.beginRead()
        let cursor = try first.fetch(FetchRequest(entity))
        #expect(try cursor.next())
        first.end()
        // The connection and the statement belong to another transaction now.
        try store.read { second in
            let other = try second.fetch(FetchRequest(entity))
            #expect(try other.next())
            #expect(try requireFailure { _ = try cursor.next() }.code == .closed)
            cursor.close()
            cursor.close()
            #expect(try other.next())
            #expect(other.rowID == 2)
        }
        let writer = try store.backend.beginWrite()
        let open = try writer.fetch(FetchRequest(entity))
        #expect(try open.next())
        _ = try writer.commit(.relaxed)
        #expect(try requireFailure { _ = try open.next() }.code == .closed)
    }

    @Test func runningTransactionsOutliveClose() throws {
        let folder = try Folder()
        let store = try Self.counter(folder)
        try store.write { try $0.insert("Counter", 1) }
        let entity = try store.entity("Counter")
        let reader = try store.backend.beginRead()
        let writer = try store.backend.beginWrite()
        try store.backend.close()
        try store.backend.close()
        #expect(try reader.ids(FetchRequest(entity)) == [1])
        let changes = Changes(store.schema)
        try changes.insert("Counter", 2)
        try writer.apply(changes.set)
        #expect(try writer.commit(.full) == 2)
        #expect(try reader.ids(FetchRequest(entity)) == [1])
        reader.end()
        #expect(folder.names == ["test.sqlite"])
        #expect(try Self.counter(folder).ids(FetchRequest(entity)) == [1, 2])
    }

    /// The files after a crash during a transaction, some of whose pages are in the log already.
    @Test func killedTransactionHasNoEffect() throws {
        let folder = try Folder()
        var options = SQLiteOptions()
        options.writerCacheKiB = 64
        let schema = try Models.single("Counter", [.attribute(AttributeDescription(name: "text", type: .string, isOptional: true))])
        let store = try Store(folder.file("test.sqlite"), schema, options: options)
        try store.write(.full) { try $0.insert("Counter", 1, ["text": .text("kept")]) }
        let writer = try store.backend.beginWrite()
        let changes = Changes(schema)
        for id in 2...500 { try changes.insert("Counter", Int64(id), ["text": .text(String(repeating: "x", count: 2000))]) }
        try changes.update("Counter", 1, ["text": .text("lost")])
        let before = StorePath(path: folder.file("test.sqlite")).walSize()
        try writer.apply(changes.set)
        #expect(StorePath(path: folder.file("test.sqlite")).walSize() > before + 100_000, "the change set is larger than the cache")
        let left = try Folder()
        for name in ["test.sqlite", "test.sqlite-wal"] {
            try FileManager.default.copyItem(atPath: folder.file(name), toPath: left.file(name))
        }
        let found = try Store(left.file("test.sqlite"), schema)
        #expect(try found.backend.verify() == [])
        #expect(try found.ids(FetchRequest(found.entity("Counter"))) == [1])
        #expect(try found.values("Counter", 1) == ["text": .text("kept")])
        writer.rollback()
    }

    @Test func longLogWithoutReadersStartsOver() throws {
        let folder = try Folder()
        let store = try Store(
            folder.file("test.sqlite"),
            try Models.single("Counter", [.attribute(AttributeDescription(name: "text", type: .string, isOptional: true))]))
        let text = Value.text(String(repeating: "x", count: 400_000))
        try store.write { try $0.insert("Counter", 1) }
        // Each commit writes 100 pages.
        for _ in 1...120 { try store.write { try $0.update("Counter", 1, ["text": text]) } }
        #expect(StorePath(path: folder.file("test.sqlite")).walSize() < 20 << 20)
        #expect(try store.values("Counter", 1) == ["text": text])
    }

    @Test func aLongLogIsWarnedOfOnce() throws {
        let folder = try Folder()
        var options = SQLiteOptions()
        options.logWarningSize = 100_000
        let schema = try Models.single("Counter", [.attribute(AttributeDescription(name: "text", type: .string, isOptional: true))])
        let logger = RecordingLogger()
        let backend = try StoreConfiguration.sqlite(file: folder.file("test.sqlite"), options: options).open(
            schema: schema, configurationName: nil, logger: logger)
        let reader = try backend.beginRead()
        for id in 1...60 {
            let writer = try backend.beginWrite()
            let changes = Changes(schema)
            try changes.insert("Counter", Int64(id), ["text": .text(String(repeating: "x", count: 3000))])
            try writer.apply(changes.set)
            _ = try writer.commit(.relaxed)
        }
        reader.end()
        #expect(logger.messages.count == 1)
        #expect(logger.messages.first?.contains("write-ahead log") == true)
    }

    @Test func secondWriterWaitsAndThrowsBusy() throws {
        let folder = try Folder()
        let store = try Self.counter(folder, timeout: .milliseconds(50))
        let other = try Self.counter(folder, timeout: .milliseconds(50))
        let writer = try store.backend.beginWrite()
        #expect(try requireFailure { _ = try store.backend.beginWrite() }.code == .busy)
        #expect(try requireFailure { _ = try other.backend.beginWrite() }.code == .busy)
        writer.rollback()
        #expect(try other.write { try $0.insert("Counter", 1) } == 1)
        #expect(try store.write { try $0.insert("Counter", 2) } == 2)
    }

    @Test func concurrentCreationsMakeOneStore() throws {
        for round in 0..<20 {
            let folder = try Folder()
            // Every second time in a file that an interrupted creation left.
            if round % 2 == 1 { try Data(count: 4096).write(to: URL(fileURLWithPath: folder.file("test.sqlite"))) }
            let problems = Problems()
            let identities = Problems()
            onThreads(8) { index in
                do {
                    let store = try Self.counter(folder)
                    identities.add(store.backend.metadata.storeID)
                    try store.write { try $0.insert("Counter", Int64(index)) }
                    try store.backend.close()
                } catch { problems.add("\(error)") }
            }
            #expect(problems.all == [])
            #expect(Set(identities.all).count == 1)
            #expect(try Self.counter(folder).ids(FetchRequest(Self.counter(folder).entity("Counter"))).count == 8 - problems.all.count)
        }
    }

    /// Two stores on one file, several threads on each: no update is lost, and every snapshot is consistent.
    @Test func concurrentWritersAndReadersAgree() throws {
        let folder = try Folder()
        let stores = [try Self.counter(folder), try Self.counter(folder)]
        try stores[0].write { changes in for id in 1...4 { try changes.insert("Counter", Int64(id), ["value": .integer(0)]) } }
        let rounds = 25
        let problems = Problems()
        onThreads(8) { index in
            do {
                let store = stores[index % 2]
                let entity = store.schema.entities[0]
                for _ in 0..<rounds {
                    if index < 4 {
                        let transaction = try store.backend.beginWrite()
                        let value = try transaction.record(entity, rowID: 1)?.integer(0) ?? -1
                        let changes = Changes(store.schema)
                        for id in 1...4 { try changes.update("Counter", Int64(id), ["value": .integer(value + 1)]) }
                        try transaction.apply(changes.set)
                        _ = try transaction.commit(.relaxed)
                    } else {
                        try store.read { transaction in
                            let cursor = try transaction.fetch(FetchRequest(entity))
                            while try cursor.next() {
                                if cursor.record.integer(0) != Int64(try transaction.version) - 1 { problems.add("torn snapshot") }
                            }
                        }
                    }
                }
            } catch { problems.add("\(error)") }
        }
        #expect(problems.all == [])
        #expect(try stores[0].values("Counter", 4) == ["value": .integer(Int64(4 * rounds))])
    }
}

/// Failures on other threads.
private final class Problems: @unchecked Sendable {  // guarded by the lock
    private let lock = NSLock()
    private var list: [String] = []

    func add(_ text: String) { lock.withLock { list.append(text) } }
    var all: [String] { lock.withLock { list } }
}
