import Foundation
import PolyStore
import PolyStoreBackend
import PolyStoreCore
import TestSupport
import Testing

/// The space and the progress of migrations that rewrite objects.
@Suite
struct MigrationDiskTests {
    private static var rows: Int { TestEnvironment.number("POLYSTORE_MIGRATION_ROWS") ?? Ring.size(20_000, thorough: 100_000) }

    /// The current version with a number in place of a text, so that every member is rewritten.
    private func earlier(_ change: (inout SchemaDescription) -> Void = { _ in }) throws -> ResolvedSchema {
        var description = SchemaDescription.current
        description["Member"].attribute("label") {
            $0.type = .int64
            $0.defaultValue = nil
        }
        change(&description)
        description.name = "Earlier"
        return try ResolvedSchema(description)
    }

    private func size(_ store: StoreConfiguration) throws -> Int { try StorePath(path: store.location).size() }

    /// The memory of the process without mapped files, in KiB; 0 where the system does not report it.
    private static func memory() -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }

    /// The size of all files in a folder, with the journals and locks beside a store.
    private func size(_ folder: Folder) -> Int { (try? StorePath(path: folder.path).size()) ?? 0 }

    @Test("a migration of LMDB that rewrites every object needs at most 2.5 times the size of the store")
    func peak() async throws { try await measure(.lmdb, most: 2.5) }

    @Test(
        "a migration of SQLite or LevelDB that rewrites every object needs at most three times the size of the store",
        arguments: [Backend.sqlite, .levelDB])
    func peakOfOtherEngines(_ backend: Backend) async throws { try await measure(backend, most: 3) }

    private func measure(_ backend: Backend, most: Double) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        // Small records with indexes, whose entries do not arrive in the order of their keys, so that each batch changes many pages.
        _ = try store.fill(earlier { $0["Member"].remove("photo") }, rows: Self.rows, readsContents: false)
        let before = size(folder)
        let stack = try DataStack(currentSchema, logger: SilentLogger())
        let run = stack.startAddingStore(store, migrating: .lightweight)
        let memory = Self.memory()
        var largest = (size: before, memory: memory)
        for await _ in run.updates { largest = (max(largest.size, size(folder)), max(largest.memory, Self.memory())) }
        _ = try await run.value
        #expect(run.report?.steps.first?.rewrittenObjects == Self.rows)
        // The file of LMDB does not shrink, so its size after the migration is the largest one. Other engines are measured at each step of the progress.
        let after = size(folder)
        let peak = max(largest.size, after)
        print(
            "\(backend), \(Self.rows) members: \(before) bytes before, \(peak) at the peak, \(Double(peak) / Double(before)) times, \(after) afterwards; \(memory) KiB of "
                + "memory before, at most \(largest.memory) during the migration")
        #expect(Double(peak) <= most * Double(before), "\(before) bytes before, \(peak) at the peak")
        try await stack.close()
    }

    @Test("after a failed, cancelled or rehearsed migration of LMDB the file has its old size")
    func failed() async throws {
        let folder = try Folder()
        let store = Backend.lmdb.store(in: folder)
        let source = try earlier()
        let contents = try store.fill(source, rows: Self.rows / 4)
        let before = try size(store)
        let last = Int64(Self.rows / 4)
        struct Refused: Error {}
        let history = SchemaHistory(
            LockedSchema("Earlier", entities: source.description.entities), currentSchema,
            mappings: [
                SchemaMapping(
                    from: "Earlier", to: "Current",
                    [
                        .update("Member") { old, _ in if old.rowID == last { throw Refused() } }
                    ])
            ])
        let stack = try DataStack(history, logger: SilentLogger())
        await #expect(throws: (any Error).self) { try await stack.upgradeStoreIfNeeded(store) }
        #expect(try size(store) <= before)
        let run = stack.startAddingStore(store, migrating: .lightweight)
        for await progress in run.updates where progress.rows > 0 { run.cancel() }
        _ = try? await run.value
        let plain = try DataStack(currentSchema, logger: SilentLogger())
        if (try? await plain.requiredMigrations(for: store).isEmpty) == false {
            #expect(try size(store) <= before)
            #expect(try await plain.rehearseMigration(of: store, migrating: .lightweight).isPossible)
            #expect(try size(store) <= before)
            let backend = try store.open(schema: source, configurationName: nil, logger: SilentLogger())
            #expect(try StoreContents(backend, source).differences(from: contents) == [])
            #expect(try backend.verify() == [])
            try backend.close()
        }
    }

    @Test("the last progress of a migration that succeeds is 1", arguments: Backend.persistent)
    func lastProgress(_ backend: Backend) async throws {
        let folder = try Folder()
        for (name, change) in [
            ("light", { $0["Member"].remove("level") }),
            (
                "rewritten",
                {
                    $0["Member"].attribute("label") {
                        $0.type = .int64
                        $0.defaultValue = nil
                    }
                }
            ), ("none", { _ in }),
        ] as [(String, (inout SchemaDescription) -> Void)] {
            let store = backend.store(in: folder, name)
            var description = SchemaDescription.current
            change(&description)
            _ = try store.fill(try ResolvedSchema(description), rows: 10)
            let stack = try DataStack(currentSchema, logger: SilentLogger())
            let run = stack.startAddingStore(store, migrating: .lightweight)
            _ = try await run.value
            var last: MigrationProgress?
            for await progress in run.updates { last = progress }
            #expect(last?.isFinished == true && last?.fractionCompleted == 1, "\(name): \(last.map { "\($0)" } ?? "nothing")")
            #expect(run.progress.fractionCompleted == 1, "\(name)")
        }
        // An error is not the end of the work.
        let refused = backend.store(in: folder, "refused")
        _ = try refused.fill(try earlier { $0["Member"].attribute("email") { $0.isUnique = false } }, rows: 200)
        let failing = try DataStack(Schema("Other", Locker.self), logger: SilentLogger())
        let run = failing.startAddingStore(refused, migrating: .chain(["Nothing", "Other"]))
        _ = try? await run.value
        var last: MigrationProgress?
        for await progress in run.updates { last = progress }
        #expect(last?.fractionCompleted != 1)
    }

    @Test("the progress of a migration that begins again counts the objects of the last attempt", arguments: Backend.persistent)
    func begunAgain(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        let source = try earlier()
        let rows = 2_500
        _ = try store.fill(source, rows: rows, readsContents: false)
        // The clubs would be carried over, and the mapping changes one after the members were migrated.
        let mapping = SchemaMapping(
            from: "Earlier", to: "Current",
            after: { migration in
                let club = try migration.insert("Club")
                club["title"] = .text("Added")
            })
        let stack = try DataStack(
            SchemaHistory(LockedSchema("Earlier", entities: source.description.entities), currentSchema, mappings: [mapping]),
            logger: SilentLogger())
        let run = stack.startAddingStore(store, migrating: .chain)
        _ = try await run.value
        var last: MigrationProgress?
        for await progress in run.updates { last = progress }
        #expect(last?.rows == last?.totalRows, "\(last.map { "\($0.rows) of \($0.totalRows)" } ?? "")")
        // The members and the clubs.
        #expect(last?.totalRows == rows + rows / 50 + 3)
        #expect(try stack.stores[0].verifyAndWait() == [])
    }

    @Test("the progress of a resumed migration counts the objects that were migrated before", arguments: [Backend.lmdb, .levelDB])
    func resumed(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        let copy = backend.store(in: folder, "interrupted")
        let source = try earlier()
        // Batches have at most 2,000 objects.
        let rows = 5_000
        _ = try store.fill(source, rows: rows)
        func history(_ body: @escaping @Sendable (Int64) throws -> Void) -> SchemaHistory {
            SchemaHistory(
                LockedSchema("Earlier", entities: source.description.entities), currentSchema,
                mappings: [SchemaMapping(from: "Earlier", to: "Current", [.update("Member") { old, _ in try body(old.rowID) }])])
        }
        // The files as a crash leaves them, in the third batch.
        try await DataStack(
            history { id in
                guard id == 4_500 else { return }
                try FileManager.default.copyItem(atPath: store.location, toPath: copy.location)
            }, logger: SilentLogger()
        ).upgradeStoreIfNeeded(store)
        let seen = Protected<[Int64]>([])
        let stack = try DataStack(history { id in seen.withLock { $0.append(id) } }, logger: SilentLogger())
        let run = stack.startAddingStore(copy, migrating: .chain)
        _ = try await run.value
        #expect(seen.withLock { $0.first } == 4_001)
        var last: MigrationProgress?
        for await progress in run.updates { last = progress }
        #expect(last?.rows == last?.totalRows, "\(last.map { "\($0.rows) of \($0.totalRows)" } ?? "")")
        #expect(last?.totalRows ?? 0 >= rows)
        #expect(try stack.stores[0].verifyAndWait() == [])
    }
}
