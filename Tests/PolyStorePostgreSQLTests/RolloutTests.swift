import EngineTestSupport
import Foundation
import PolyStoreBackend
import PolyStoreCore
import PostgreSQLServer
import TestModels
import Testing

@testable import PolyStorePostgreSQL

/// What programs with the former model get while another process changes the model of their store: the tables of the guide to PostgreSQL.
@Suite(.withServer) struct RolloutTests {
    /// A change that another process makes, up to its last step.
    private struct OtherProcess {
        private let progress: Protected<Progress>
        private let end: () -> Result<Void, any Error>

        private struct Progress {
            var isReached = false
            var isReleased = false
            var isOver = false
        }

        /// - Parameter body: Makes the change. It calls the closure before the last step.
        init(_ body: @escaping @Sendable (_ meanwhile: () -> Void) throws -> Void) {
            let progress = Protected(Progress())
            self.progress = progress
            end = inBackground {
                defer { progress.signal { ($0.isReached, $0.isOver) = (true, true) } }
                try body {
                    progress.signal { $0.isReached = true }
                    progress.wait(until: { $0.isReleased }, { _ in })
                }
            }
        }

        func reach() async throws { try await eventually { progress.withLock { $0.isReached } } }

        func finish() async throws {
            progress.signal { $0.isReleased = true }
            try await eventually { progress.withLock { $0.isOver } }
            try end().get()
        }
    }

    private static func text(ofGuide name: String) throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return try String(contentsOf: root.appendingPathComponent("docs/guides/\(name).md"), encoding: .utf8)
    }

    /// Returns an answer as the guide states it.
    private static func cell(_ answer: String, ifEqual count: String) -> String { answer == count ? "works" : answer }

    /// Starts the change in another process, which waits before its commit.
    private func start(_ change: RolloutChange, _ options: PostgreSQLOptions) throws -> OtherProcess {
        let target = try change.target()
        guard change.isIndexOnly else {
            let url = try TestServer.get().url()
            return OtherProcess { meanwhile in
                try migrateStore(url, options, from: change.models, to: target, meanwhile: meanwhile)
            }
        }
        return OtherProcess { meanwhile in
            let proxy = try ProtocolProxy(TestServer.get())
            defer { proxy.stop() }
            let isStalled = Protected(false)
            proxy.setRule { sql in
                guard sql.hasPrefix("CREATE INDEX") || sql.hasPrefix("DROP INDEX") else { return .forward }
                isStalled.signal { $0 = true }
                return .stall
            }
            let opening = inBackground { _ = try Store(proxy.url(), options: options, schema: ResolvedSchema(target)) }
            isStalled.wait(until: { $0 }, { _ in })
            meanwhile()
            proxy.reset()
            proxy.release()
            try opening().get()
        }
    }

    /// The commit ring makes a change of each kind; the thorough ring makes all of them.
    private static let changes = RolloutChange.all.filter { change in
        let quick = ["attribute added, optional", "hierarchy changed", "index added", "index removed"]
        return TestServer.isThorough || quick.contains(change.description)
    }

    @Test(arguments: changes)
    func programWithTheFormerModelGetsWhatTheGuideStates(_ change: RolloutChange) async throws {
        let options = TestServer.options()
        let program = try FormerProgram(change.models, options)
        #expect(program.write("first@example.com") == "works")
        program.follow()
        try await eventually { program.listed.withLock { $0 } == 1 }
        // Before.
        #expect(program.write("second@example.com") == "works")
        try await eventually { program.listed.withLock { $0 } == 2 }
        #expect(program.read() == "2")
        #expect(program.open() == "2")
        if !change.isIndexOnly {
            let error = #expect(throws: StoreError.self) { try Store(options: options, schema: ResolvedSchema(change.target())) }
            #expect(error?.code == .migrationRequired)
        }
        // A writer waits for this time.
        var brief = options
        brief.busyTimeout = .milliseconds(100)
        let impatient = try FormerProgram(change.models, brief)
        // While.
        let other = try start(change, options)
        try await other.reach()
        var row = [
            Self.cell(program.read(), ifEqual: "2"), program.listed.withLock { $0 } == 2 ? "works" : "changed",
            impatient.write("busy@example.com"), Self.cell(program.open(), ifEqual: "2"),
        ]
        try await other.finish()
        // After.
        if change.isIndexOnly {
            row += [Self.cell(program.read(), ifEqual: "2")]
            let written = program.write("third@example.com")
            try await eventually { program.listed.withLock { $0 } == 3 }
            row += ["works", written]
        } else {
            try await eventually { program.log.messages.contains { $0.contains("migrated or replaced") } }
            row += [program.read(), program.listed.withLock { $0 } == 2 ? "unchanged" : "changed", program.write("third@example.com")]
        }
        let opened = program.open()
        row += [opened == "3" ? "works" : opened]
        let text = "| \(change.description) | \(row.joined(separator: " | ")) |"
        #expect(try Self.text(ofGuide: "postgresql").contains(text + "\n"), "\(text)")
        // The program does not migrate the store back.
        if !change.isIndexOnly { #expect(program.open(migrating: .lightweight) == "`incompatibleSchema`") }
        let store = try Store(options: options, schema: ResolvedSchema(change.target()))
        #expect(try store.ids(FetchRequest(store.entity("Person"))).count == (change.isIndexOnly ? 3 : 2))
        #expect(try store.backend.verify().isEmpty)
    }

    /// A snapshot from before the commit shows the former tables until it ends.
    @Test func snapshotFromBeforeTheMigrationIsReadToItsEnd() async throws {
        var options = TestServer.options()
        options.renamingTime = .milliseconds(10)
        let change = RolloutChange.all[2]
        let program = try FormerProgram(change.models, options)
        #expect(program.write("first@example.com") == "works")
        let progress = Protected((isRead: false, isMigrated: false))
        let reading = inBackground {
            try program.stack.readAndWait { context in
                let before = try context.fetchCount(From<Person>())
                progress.signal { $0.isRead = true }
                progress.wait(until: { $0.isMigrated }, { _ in })
                return (before, try context.fetchAll(From<Person>()).compactMap(\.email))
            }
        }
        try await eventually { progress.withLock { $0.isRead } }
        let other = try start(change, options)
        try await other.finish()
        #expect(program.read() == "`differentStoreAtURL`")
        progress.signal { $0.isMigrated = true }
        let (count, emails) = try reading().get()
        #expect((count, emails) == (1, ["first@example.com"]))
    }

    @Test func writerThatWaitsForTheMigrationIsRefusedAfterwards() async throws {
        let options = TestServer.options()
        let change = RolloutChange.all[0]
        let program = try FormerProgram(change.models, options)
        #expect(program.write("first@example.com") == "works")
        let other = try start(change, options)
        try await other.reach()
        let writing = inBackground { program.write("second@example.com") }
        try TestServer.waitForLock(in: options.schema)
        try await other.finish()
        #expect(try writing().get() == "`differentStoreAtURL`")
        let store = try Store(options: options, schema: ResolvedSchema(change.target()))
        #expect(try store.ids(FetchRequest(store.entity("Person"))).count == 1)
    }

    /// The same with another process.
    @Test func otherProcessWithTheFormerModelGetsWhatTheGuideStates() async throws {
        var options = TestServer.options()
        options.renamingTime = .milliseconds(10)
        let change = RolloutChange.all[0]
        let child = try Child(
            program: "namespaces-child", "serve", TestServer.get().url(options: "schema=\(options.schema)&busyTimeout=3600000"), "0")
        #expect(child.line() == "ready")
        #expect(try child.answer(to: "write first@example.com") == "works")
        #expect(try child.answer(to: "list 1") == "1")
        let impatient = try Child(
            program: "namespaces-child", "serve", TestServer.get().url(options: "schema=\(options.schema)&busyTimeout=100"), "0")
        #expect(impatient.line() == "ready")
        let other = try start(change, options)
        try await other.reach()
        #expect(try child.answer(to: "read") == "1")
        #expect(try child.answer(to: "open") == "1")
        #expect(try impatient.answer(to: "write second@example.com") == "busy")
        try await other.finish()
        #expect(try child.answer(to: "read") == "differentStoreAtURL")
        #expect(try child.answer(to: "write second@example.com") == "differentStoreAtURL")
        #expect(try child.answer(to: "list 1") == "1")
        #expect(try child.answer(to: "open") == "migrationRequired")
        child.kill()
        impatient.kill()
        let store = try Store(options: options, schema: ResolvedSchema(change.target()))
        #expect(try store.ids(FetchRequest(store.entity("Person"))).count == 1)
    }
}
