import Foundation
import PolyStore
import PolyStoreBackend
import TestSupport
import Testing

/// Import runs over sequences of values: batches, policies, reports, progress and cancellation.
@Suite struct ImportRunTests {
    @Test(arguments: Backend.forObjectLayer)
    func sequenceIsImportedInOneTransaction(_ backend: Backend) async throws {
        let towns = try Towns(backend)
        let report = try await towns.stack.importRecords(Into<Town>(), from: (1...25).map { TownSource($0) })
        #expect((report.inserted, report.updated, report.skipped, report.excluded) == (25, 0, 0, 0))
        #expect((report.records, report.batches, report.isComplete, report.resumedFrom) == (25, 1, true, nil))
        #expect(try towns.populations().count == 25)
    }

    @Test(arguments: Backend.forObjectLayer)
    func uniqueObjectsAreUpdatedAcrossAndWithinBatches(_ backend: Backend) async throws {
        let towns = try Towns(backend)
        // 5 occurs twice in one batch, 1 in two batches.
        let sources = [1, 2, 5, 5, 3, 1].enumerated().map { TownSource($1, population: 10 * $0) }
        let report = try await towns.stack.importRecords(Into<Town>(), from: sources, options: ImportOptions(commit: .batches(of: 4)))
        #expect((report.inserted, report.updated, report.batches) == (4, 2, 2))
        #expect(try towns.populations() == ["t1": 50, "t2": 10, "t3": 40, "t5": 30])
    }

    @Test(arguments: Backend.forObjectLayer)
    func resultDoesNotDependOnTheBatchSize(_ backend: Backend) async throws {
        let sources = (0..<40).map { TownSource($0 % 7, name: "Town \($0 % 7)", population: $0) }
        for size in [1, 3, 7, 40, 100] {
            let towns = try Towns(backend)
            let report = try await towns.stack.importRecords(
                Into<Town>(), from: sources, options: ImportOptions(commit: .batches(of: size)))
            #expect((report.inserted, report.updated, report.records) == (7, 33, 40), "batches of \(size)")
            #expect(report.batches == (40 + size - 1) / size)
            #expect(try towns.populations() == ["t0": 35, "t1": 36, "t2": 37, "t3": 38, "t4": 39, "t5": 33, "t6": 34])
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func modelLeavesSourcesOut(_ backend: Backend) async throws {
        let towns = try Towns(backend)
        var nameless = TownSource(9)
        nameless.code = nil
        let sources = [TownSource(1), TownSource(2, name: "never insert"), nameless, TownSource(1, name: "never update")]
        let report = try await towns.stack.importRecords(Into<Town>(), from: sources)
        #expect((report.inserted, report.updated, report.skipped, report.excluded) == (1, 0, 3, 0))
        #expect(try towns.populations() == ["t1": 1])
    }

    @Test(arguments: Backend.forObjectLayer)
    func asynchronousSequenceIsImported(_ backend: Backend) async throws {
        let towns = try Towns(backend)
        let sources = AsyncStream<TownSource> { continuation in
            for number in 1...30 { continuation.yield(TownSource(number)) }
            continuation.finish()
        }
        let report = try await towns.stack.importRecords(Into<Town>(), from: sources, options: ImportOptions(commit: .batches(of: 8)))
        #expect((report.inserted, report.batches) == (30, 4))
        #expect(try towns.populations().count == 30)
    }

    @Test(arguments: Backend.forObjectLayer)
    func synchronousFormImportsOnTheCallersThread(_ backend: Backend) throws {
        let towns = try Towns(backend)
        let report = try towns.stack.importRecordsAndWait(
            Into<Town>(), from: (1...10).lazy.map { TownSource($0) }, options: ImportOptions(commit: .batches(of: 3)))
        #expect((report.inserted, report.batches) == (10, 4))
        let error = #expect(throws: StoreError.self) {
            try towns.stack.performAndWait { _ in
                _ = try towns.stack.importRecordsAndWait(Into<Town>(), from: [TownSource(11)])
            }
        }
        #expect(error?.code == .misuse)
        #expect(try towns.populations().count == 10)
    }

    @Test @MainActor func viewShowsImportedObjects() async throws {
        let towns = try Towns(.memory)
        #expect(try towns.stack.view.fetchCount(From<Town>()) == 0)
        try await towns.stack.importRecords(Into<Town>(), from: [TownSource(1), TownSource(2)])
        #expect(try towns.stack.view.fetchCount(From<Town>()) == 2)
        try towns.stack.importRecordsAndWait(Into<Town>(), from: [TownSource(3)])
        #expect(try towns.stack.view.fetchCount(From<Town>()) == 3)
    }

    @Test(arguments: Backend.forObjectLayer)
    func referencesLeadToObjectsOfTheSameBatchAndOfEarlierOnes(_ backend: Backend) async throws {
        let towns = try Towns(backend)
        // 1 refers forward within its batch, 4 to an earlier batch, 5 to itself.
        let sources = [
            TownSource(1, region: "t2"), TownSource(2), TownSource(3), TownSource(4, region: "t1"), TownSource(5, region: "t5"),
        ]
        try await towns.stack.importRecords(Into<Town>(), from: sources, options: ImportOptions(commit: .batches(of: 3)))
        let regions = try await towns.stack.read { context in
            Dictionary(uniqueKeysWithValues: try context.fetchAll(From<Town>()).map { ($0.code, $0.region?.code ?? "-") })
        }
        #expect(regions == ["t1": "t2", "t2": "-", "t3": "-", "t4": "t1", "t5": "t5"])
    }

    @Test func batchSizesAndNamesAreChecked() async throws {
        let towns = try Towns(.memory)
        for commit in [ImportOptions.Commit.batches(of: 0), .batches(of: -1), .batches(of: 5, resume: "")] {
            await #expect(throws: StoreError.self) {
                try await towns.stack.importRecords(Into<Town>(), from: [TownSource(1)], options: ImportOptions(commit: commit))
            }
        }
        #expect(try towns.populations().isEmpty)
    }

    @Test func classWithoutAStoreIsNamed() async throws {
        let stack = try DataStack(Schema("Towns 1", Town.self, Stop.self), logger: RecordingLogger())
        let error = await #expect(throws: StoreError.self) { try await stack.importRecords(Into<Town>(), from: [TownSource(1)]) }
        #expect(error?.code == .storeNotFound)
    }
}
