import Foundation
import PolyStore
import PolyStoreBackend
import PolyStoreSQLite
import TestSupport
import Testing

/// The connections and readers that backends keep for later snapshots.
@MainActor
@Suite struct SessionTests {
    private static let byName = From<Worker>().orderBy(.ascending(\.name))

    /// The maximum number of idle sessions; nil for a backend that keeps none.
    private static func limit(_ backend: Backend) -> Int? {
        switch backend {
        case .sqlite: 8
        case .lmdb: 16
        case .memory, .levelDB: nil
        }
    }

    /// Waits until the released snapshots have ended, which views and background observations do asynchronously.
    private func ended(_ store: PersistentStore, active: Int) async throws -> ReadSessions? {
        while let sessions = try store.statisticsAndWait().readSessions {
            if sessions.active == active { return sessions }
            await Task.yield()
        }
        return nil
    }

    @Test(arguments: Backend.allCases)
    func releasedListsViewsAndSequencesLeaveFewIdleSessions(_ backend: Backend) async throws {
        let workplace = try Workplace(backend)
        try workplace.insert(("Jane", 30), ("Joe", 31))
        let (stack, store) = (workplace.stack, workplace.stack.stores[0])
        // A snapshot that remains open.
        let monitor = try stack.view.monitorList(Self.byName)
        let count = Ring.size(100, thorough: 500)
        for round in 1...2 {
            var kept: [Any] = []
            for number in 0..<count {
                switch number % 4 {
                case 0: kept.append(try stack.newView().monitorList(Self.byName))
                case 1: kept.append(try stack.newView(.manual).monitorList(Self.byName))
                case 2:
                    var lists = stack.newView().snapshots(of: Self.byName).makeAsyncIterator()
                    #expect(try await lists.next() != nil)
                    kept.append(lists)
                default:
                    var changes = stack.changes(of: Self.byName).makeAsyncIterator()
                    #expect(try await changes.next() != nil)
                    kept.append(changes)
                }
            }
            if let sessions = try store.statisticsAndWait().readSessions { #expect(sessions.active > count / 2) }
            kept = []
            let sessions = try await ended(store, active: 1)
            #expect(sessions?.maximumIdle == Self.limit(backend))
            if let sessions { #expect(sessions.idle <= sessions.maximumIdle && sessions.idle > 0, "round \(round): \(sessions)") }
        }
        #expect(monitor.count == 2)
    }

    @Test(arguments: [0, 1, 2, 20])
    func theNumberOfIdleConnectionsIsAnOption(_ limit: Int) throws {
        let folder = try Folder()
        var options = SQLiteOptions()
        options.maximumIdleReaders = limit
        let stack = try DataStack(observeSchema)
        let store = try stack.addStore(.sqlite(file: folder.file("test.sqlite"), options: options))
        var contexts = try (0..<12).map { _ in
            let context = stack.newContext()
            _ = try context.fetchCount(From<Worker>())
            return context
        }
        #expect(try store.statisticsAndWait().readSessions?.active == 12)
        contexts.removeLast(11)
        #expect(try store.statisticsAndWait().readSessions == ReadSessions(active: 1, idle: min(limit, 12), maximumIdle: limit))
        contexts = []
        let statistics = try store.statisticsAndWait()
        #expect(statistics.readSessions == ReadSessions(active: 0, idle: min(limit, 13), maximumIdle: limit))
        #expect("\(statistics)".hasSuffix("; 0 active and \(min(limit, 13)) of at most \(limit) idle sessions"), "\(statistics)")
        // Statistics that an earlier version has encoded have no sessions.
        let encoded = try JSONEncoder().encode(statistics)
        #expect(try JSONDecoder().decode(StoreStatistics.self, from: encoded) == statistics)
        let earlier = Data(#"{"version":1,"objectCounts":{},"fileSize":2}"#.utf8)
        #expect(try JSONDecoder().decode(StoreStatistics.self, from: earlier).readSessions == nil)
    }

    @Test func aNegativeNumberOfIdleConnectionsIsRefused() throws {
        let folder = try Folder()
        let path = folder.file("test.sqlite")
        var options = SQLiteOptions()
        options.maximumIdleReaders = -1
        let stack = try DataStack(observeSchema)
        let error = try requireFailure { try stack.addStore(.sqlite(file: path, options: options)) }
        #expect(error.code == .misuse)
        #expect(error.message.contains("maximumIdleReaders is -1") && error.message.contains(path), "\(error)")
        #expect(folder.names == [])
        let engines = StoreEngines([.sqlite])
        expectError(.misuse) { try engines.configuration("sqlite:\(path)?maximumIdleReaders=-1") }
        let store = try stack.addStore(try engines.configuration("sqlite:\(path)?maximumIdleReaders=3"))
        #expect(try store.statisticsAndWait().readSessions?.maximumIdle == 3)
    }
}
