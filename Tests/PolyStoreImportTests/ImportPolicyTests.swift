import Foundation
import PolyStore
import PolyStoreBackend
import TestSupport
import Testing

/// Import runs with bad records.
@Suite struct ImportPolicyTests {
    /// 12 towns: 3 throws, 6 violates a rule, 8 has the name of 7.
    static let sources: [TownSource] = (1...12).map { number in
        switch number {
        case 3: TownSource(3, name: "refused")
        case 6: TownSource(6, population: -6)
        case 8: TownSource(8, name: "Town 7")
        default: TownSource(number)
        }
    }

    static let good = Set([1, 2, 4, 5, 7, 9, 10, 11, 12].map { "t\($0)" })

    @Test(arguments: Backend.forObjectLayer, [1, 2, 5, 12, 100])
    func badRecordsAreSkippedAndTheirBatchesCommitted(_ backend: Backend, _ size: Int) async throws {
        let towns = try Towns(backend)
        var options = ImportOptions(commit: .batches(of: size), onInvalidRecord: .exclude())
        options.exampleLimit = 10
        let report = try await towns.stack.importRecords(Into<Town>(), from: Self.sources, options: options)
        #expect((report.inserted, report.excluded, report.records) == (9, 3, 12))
        #expect(report.problems.map(\.record) == [3, 6, 8])
        #expect(report.problems[0].reason == "the town is refused.")
        #expect(report.problems[1].field == "population")
        #expect(report.problems[2].field == "name")
        #expect(Set(try towns.populations().keys) == Self.good)
        // No changes of skipped records remain.
        #expect(try await towns.stack.read { try $0.fetchCount(From<Town>(), Where(\.name == "refused")) } == 0)
    }

    @Test(arguments: Backend.forObjectLayer)
    func badRecordsAreSkippedInOneTransaction(_ backend: Backend) async throws {
        let towns = try Towns(backend)
        let report = try await towns.stack.importRecords(
            Into<Town>(), from: Self.sources, options: ImportOptions(onInvalidRecord: .exclude(upTo: 3)))
        #expect((report.inserted, report.excluded, report.batches) == (9, 3, 1))
        #expect(Set(try towns.populations().keys) == Self.good)
    }

    @Test(arguments: Backend.forObjectLayer)
    func firstBadRecordEndsTheRun(_ backend: Backend) async throws {
        for (number, field) in [(3, nil), (6, "population"), (8, "name")] as [(Int, String?)] {
            let towns = try Towns(backend)
            let sources = Self.sources.enumerated().map { $0 + 1 == number ? $1 : TownSource($0 + 1) }
            let run = towns.stack.startImport(Into<Town>(), from: sources, options: ImportOptions(commit: .batches(of: 2)))
            let error = await #expect(throws: StoreError.self) { try await run.value }
            #expect(error?.code == .invalidValue)
            #expect(
                error?.message.hasPrefix("Record \(number)\(field.map { ", field \"\($0)\"" } ?? ""): ") == true, "\(error?.message ?? "")")
            #expect(error?.attribute == field)
            // Batches before that of the record are kept.
            let committed = (number - 1) / 2 * 2
            #expect(error?.message.hasSuffix("The records up to \(committed) are committed.") == true, "\(error?.message ?? "")")
            #expect(try towns.populations().count == committed)
            #expect(run.report?.inserted == committed)
            #expect(run.report?.isComplete == false)
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func failedRunInOneTransactionCommitsNothing(_ backend: Backend) async throws {
        let towns = try Towns(backend)
        let error = await #expect(throws: StoreError.self) { try await towns.stack.importRecords(Into<Town>(), from: Self.sources) }
        #expect(error?.message == "Record 3: the town is refused. Nothing was committed.")
        #expect(try towns.populations().isEmpty)
    }

    @Test(arguments: Backend.forObjectLayer)
    func runEndsAtTheRecordBehindTheLimit(_ backend: Backend) async throws {
        let towns = try Towns(backend)
        let run = towns.stack.startImport(
            Into<Town>(), from: Self.sources, options: ImportOptions(commit: .batches(of: 1), onInvalidRecord: .exclude(upTo: 2)))
        let error = await #expect(throws: StoreError.self) { try await run.value }
        #expect(error?.message.hasPrefix("Record 8,") == true, "\(error?.message ?? "")")
        #expect((run.report?.inserted, run.report?.excluded) == (5, 2))
        #expect(try towns.populations().count == 5)
    }

    @Test(arguments: Backend.forObjectLayer)
    func closureDecides(_ backend: Backend) async throws {
        let towns = try Towns(backend)
        let asked = Protected<[Int]>([])
        var options = ImportOptions(commit: .batches(of: 4))
        options.onInvalidRecord = .ask { problem in
            asked.withLock { $0.append(problem.record) }
            return problem.record == 8 ? .stop : .exclude
        }
        let run = towns.stack.startImport(Into<Town>(), from: Self.sources, options: options)
        await #expect(throws: StoreError.self) { try await run.value }
        // Each record is reported once, however often its batch is imported.
        #expect(asked.withLock { $0 } == [3, 6, 8])
        #expect(Set(try towns.populations().keys) == ["t1", "t2", "t4"])
    }

    @Test(arguments: Backend.forObjectLayer)
    func updatesOfARefusedRecordAreUndone(_ backend: Backend) async throws {
        let towns = try Towns(backend)
        try await towns.stack.importRecords(Into<Town>(), from: (1...5).map { TownSource($0) })
        let sources = [
            TownSource(1, name: "Town 1", population: 100), TownSource(2, name: "refused", population: 200),
            TownSource(3, name: "Town 3", population: 2_000_000), TownSource(4, name: "Town 4", population: 400),
            TownSource(4, name: "Town 4", population: -1),
        ]
        let report = try await towns.stack.importRecords(
            Into<Town>(), from: sources, options: ImportOptions(commit: .batches(of: 100), onInvalidRecord: .exclude()))
        #expect((report.updated, report.excluded) == (2, 3))
        #expect(report.problems.map(\.record) == [2, 3, 5])
        // The second record of town 4 is refused, the first is imported.
        #expect(try towns.populations() == ["t1": 100, "t2": 2, "t3": 3, "t4": 400, "t5": 5])
    }

    @Test(arguments: Backend.forObjectLayer)
    func recordsThatLeadToARefusedOneAreRefused(_ backend: Backend) async throws {
        let towns = try Towns(backend)
        let sources = [TownSource(1), TownSource(2, name: "refused"), TownSource(3, region: "t2"), TownSource(4, region: "t1")]
        let report = try await towns.stack.importRecords(Into<Town>(), from: sources, options: ImportOptions(onInvalidRecord: .exclude()))
        #expect((report.inserted, report.excluded) == (2, 2))
        #expect(report.problems.map(\.record) == [2, 3])
        #expect(report.problems.last?.field == "region")
        #expect(Set(try towns.populations().keys) == ["t1", "t4"])
    }

    @Test func problemsAreLimitedAndCounted() async throws {
        let towns = try Towns(.memory)
        var options = ImportOptions(commit: .batches(of: 10), onInvalidRecord: .exclude())
        options.exampleLimit = 7
        let sources = (1...50).map { TownSource($0, name: $0 % 2 == 0 ? "refused" : nil) }
        let report = try await towns.stack.importRecords(Into<Town>(), from: sources, options: options)
        #expect((report.excluded, report.problems.count, report.inserted) == (25, 7, 25))
        #expect(report.problems.map(\.record) == [2, 4, 6, 8, 10, 12, 14])
        #expect(report.description.contains("… and 18 more"))
    }
}
