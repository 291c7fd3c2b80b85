import Foundation
import PolyStore
import PolyStoreBackend
import TestSupport
import Testing

/// Import runs and exports with an entity in several stores, and with refused transactions.
@Suite struct ImportStoreTests {
    private static let schema = Schema(
        "Stores 1", [Town.self, Stop.self], configurations: ["North": [Town.self, Stop.self], "South": [Town.self, Stop.self]])

    private static func stack(_ backend: Backend, _ folder: Folder) throws -> DataStack {
        let stack = try DataStack(schema, logger: RecordingLogger())
        stack.snapshotWarningAge = .seconds(100_000)
        for name in ["North", "South"] { try stack.addStore(backend.store(in: folder, name), configuration: name) }
        return stack
    }

    @Test(arguments: Backend.forObjectLayer)
    func configurationSelectsTheStore(_ backend: Backend) async throws {
        let folder = try Folder()
        let stack = try Self.stack(backend, folder)
        let ambiguous = await #expect(throws: StoreError.self) { try await stack.importRecords(Into<Town>(), from: [TownSource(1)]) }
        #expect(ambiguous?.code == .ambiguousStore)
        try await stack.importRecords(Into<Town>("North"), from: [TownSource(1), TownSource(2)])
        try await stack.importRecords(Into<Town>("South"), from: [TownSource(3)])
        let north = try await stack.read { try $0.fetchAll(From<Town>("North").orderBy(.ascending(\.code))).map(\.code) }
        #expect(north == ["t1", "t2"])
        try await stack.perform { transaction in
            let towns = try transaction.fetchAll(From<Town>("North").orderBy(.ascending(\.code)))
            towns[1].region = towns[0]
        }
        // An export reads both stores in one order.
        let path = folder.path + "/towns.csv"
        let report = try await stack.export(From<Town>().orderBy(.descending(\.code)), to: .file(path: path))
        #expect(report.objects == 3)
        #expect(
            try String(contentsOfFile: path, encoding: .utf8)
                == "code,name,population,region\r\nt3,Town 3,3,\r\nt2,Town 2,2,t1\r\nt1,Town 1,1,\r\n")
        let cut = try await stack.export(From<Town>().orderBy(.descending(\.code)).offset(1).limit(1), to: .file(path: path))
        #expect(cut.objects == 1)
        #expect(try String(contentsOfFile: path, encoding: .utf8).contains("t2,Town 2"))
    }

    @Test(arguments: Backend.allCases)
    func positionsBelongToTheirStores(_ backend: Backend) async throws {
        let folder = try Folder()
        let stack = try Self.stack(backend, folder)
        let options = ImportOptions(commit: .batches(of: 1, resume: "stops"))
        let text = stopLines(1...2) + "bad\n" + stopLines(4...5)
        let source = RecordSource.text(text, format: .jsonLines, name: "stops.jsonl")
        for name in ["North", "South"] {
            let run = stack.startImport(Into<Stop>(name), from: source, options: options)
            await #expect(throws: StoreError.self) { try await run.value }
            #expect((run.report?.inserted, run.report?.resumedFrom) == (2, nil))
        }
        var skipping = options
        skipping.onInvalidRecord = .exclude()
        for name in ["North", "South"] {
            let report = try await stack.importRecords(Into<Stop>(name), from: source, options: skipping)
            #expect((report.inserted, report.excluded, report.resumedFrom) == (4, 1, 2))
            let numbers = try await stack.read { try $0.fetchAll(From<Stop>(name).orderBy(.ascending(\.number))).map(\.number) }
            #expect(numbers == [1, 2, 4, 5])
        }
    }

    @Test(arguments: [Backend.sqlite, .lmdb])
    func readOnlyStoreEndsTheRun(_ backend: Backend) async throws {
        let folder = try Folder()
        do {
            let stack = try DataStack(Schema("Towns 1", Town.self, Stop.self), logger: RecordingLogger())
            try stack.addStore(backend.store(in: folder))
            try await stack.importRecords(Into<Town>(), from: [TownSource(1)])
        }
        let stack = try DataStack(Schema("Towns 1", Town.self, Stop.self), logger: RecordingLogger())
        try stack.addStore(backend.store(in: folder).readOnly())
        let error = await #expect(throws: StoreError.self) {
            try await stack.importRecords(Into<Town>(), from: [TownSource(2)], options: ImportOptions(onInvalidRecord: .exclude()))
        }
        #expect(error?.code == .readOnly)
        let path = folder.path + "/towns.jsonl"
        #expect(try await stack.export(From<Town>(), to: .file(path: path)).objects == 1)
    }
}
