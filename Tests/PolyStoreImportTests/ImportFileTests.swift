import Foundation
import PolyStore
import PolyStoreBackend
import TestSupport
import Testing

/// Import runs over files, and over records of other sources.
@Suite struct ImportFileTests {
    @Test(arguments: Backend.forObjectLayer)
    func recordsOfEveryFormatAreImported(_ backend: Backend) async throws {
        let files = [
            ("stops.jsonl", stopLines(1...20)),
            ("stops.json", "[" + (1...20).map { "{\"place\": \"p\($0)\", \"number\": \($0)}" }.joined(separator: ",\n") + "]"),
            ("stops.csv", "number,place\n" + (1...20).map { "\($0),\"p, \($0)\"\n" }.joined()),
        ]
        for (name, text) in files {
            let towns = try Towns(backend)
            let path = try towns.write(text, to: name)
            let report = try await towns.stack.importRecords(
                Into<Stop>(), from: .file(path: path), options: ImportOptions(commit: .batches(of: 6)))
            #expect((report.inserted, report.records, report.batches, report.source) == (20, 20, 4, name))
            // Some bytes of a document can follow its last record.
            #expect(report.bytes > Int64(text.utf8.count) - 5 && report.bytes <= Int64(text.utf8.count))
            #expect(try towns.stops() == Array(1...20))
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func recordsAreDecoded(_ backend: Backend) async throws {
        let towns = try Towns(backend)
        let path = try towns.write((1...9).map { TownSource($0, region: $0 > 3 ? "t\($0 - 3)" : nil).line }.joined(), to: "towns.jsonl")
        let report = try await towns.stack.importRecords(
            Into<Town>(), from: .file(path: path), options: ImportOptions(commit: .batches(of: 4)))
        #expect((report.inserted, report.batches) == (9, 3))
        let csv = "code,name,population\nt1,Town 1,100\nt20,Town 20,20\n"
        let second = try towns.stack.importRecordsAndWait(Into<Town>(), from: .text(csv, format: .csv))
        #expect((second.inserted, second.updated) == (1, 1))
        #expect(try towns.populations()["t1"] == 100)
        #expect(try towns.populations().count == 10)
    }

    @Test(arguments: Backend.forObjectLayer)
    func recordsOfASequenceKeepTheirPositions(_ backend: Backend) async throws {
        let towns = try Towns(backend)
        let path = try towns.write(stopLines(1...3) + "\n\n{\"place\": \"x\", \"number\": \"many\"}\n", to: "stops.jsonl")
        let run = towns.stack.startImport(
            Into<Stop>(), from: RecordSource.file(path: path).records, options: ImportOptions(commit: .batches(of: 2)))
        let error = await #expect(throws: StoreError.self) { try await run.value }
        #expect(error?.message.contains("line 6") == true, "\(error?.message ?? "")")
        #expect(try towns.stops() == [1, 2])
    }

    @Test(arguments: Backend.forObjectLayer)
    func errorNamesFileRecordLineFieldAndReason(_ backend: Backend) async throws {
        let towns = try Towns(backend)
        let lines = [TownSource(1).line, "\n", "{\"code\": \"t2\", \"name\": \"Two\", \"population\": \"many\"}\n", TownSource(3).line]
        let path = try towns.write(lines.joined(), to: "towns.jsonl")
        let error = await #expect(throws: StoreError.self) {
            try await towns.stack.importRecords(Into<Town>(), from: .file(path: path))
        }
        #expect(error?.code == .invalidValue)
        #expect(error?.attribute == "population")
        #expect(error?.entity == "Town")
        #expect(error?.underlying?.isEmpty == false)
        #expect(
            error?.message.hasPrefix("towns.jsonl, record 2, line 3, field \"population\": expected an integer, found the text \"many\".")
                == true,
            "\(error?.message ?? "")")
    }

    @Test(arguments: Backend.forObjectLayer)
    func damagedLinesAreSkipped(_ backend: Backend) async throws {
        let towns = try Towns(backend)
        let text = stopLines(1...4) + "{\"place\": \"p5\", \"number\"\n" + stopLines(6...7) + "not JSON\n" + stopLines(9...10)
        let path = try towns.write(text, to: "stops.jsonl")
        for size in [1, 3, 100] {
            try towns.stack.performAndWait { _ = try $0.deleteAll(From<Stop>()) }
            let report = try await towns.stack.importRecords(
                Into<Stop>(), from: .file(path: path), options: ImportOptions(commit: .batches(of: size), onInvalidRecord: .exclude()))
            #expect((report.inserted, report.excluded, report.records) == (8, 2, 10))
            #expect(report.problems.map(\.record) == [5, 8])
            #expect(report.problems.map(\.line) == [5, 8])
            #expect(try towns.stops() == [1, 2, 3, 4, 6, 7, 9, 10])
        }
    }

    @Test func missingFileAndUnknownFormatAreErrors() async throws {
        let towns = try Towns(.memory)
        let missing = await #expect(throws: StoreError.self) {
            try await towns.stack.importRecords(Into<Stop>(), from: .file(path: towns.folder.path + "/none.jsonl"))
        }
        #expect(missing?.code == .io)
        let path = try towns.write("", to: "stops.dat")
        let unknown = await #expect(throws: StoreError.self) { try await towns.stack.importRecords(Into<Stop>(), from: .file(path: path)) }
        #expect(unknown?.code == .unsupported)
        let empty = try towns.write("", to: "empty.jsonl")
        let report = try await towns.stack.importRecords(Into<Stop>(), from: .file(path: empty))
        #expect((report.records, report.batches, report.isComplete) == (0, 0, true))
    }

    @Test(arguments: Backend.forObjectLayer)
    func dryRunReportsAndCommitsNothing(_ backend: Backend) async throws {
        let towns = try Towns(backend)
        try await towns.stack.importRecords(Into<Town>(), from: [TownSource(1), TownSource(2)])
        let sources = [
            TownSource(1, population: 10), TownSource(3), TownSource(3, population: 30), TownSource(4, name: "refused"),
            TownSource(5, name: "Town 2"),
            TownSource(6, name: "never insert"), TownSource(7),
        ]
        let path = try towns.write(sources.map(\.line).joined(), to: "towns.jsonl")
        for commit in [ImportOptions.Commit.once, .batches(of: 2), .batches(of: 2, resume: "dry")] {
            let report = try await towns.stack.importRecords(
                Into<Town>(), from: .file(path: path), options: ImportOptions(commit: commit, onInvalidRecord: .exclude(), isDryRun: true))
            #expect((report.inserted, report.updated, report.skipped, report.excluded) == (2, 2, 1, 2))
            #expect((report.isDryRun, report.batches, report.records) == (true, 0, 7))
            #expect(report.insertedExamples.map(\.record) == [2, 7])
            #expect(report.insertedExamples.map(\.line) == [2, 7])
            #expect(report.insertedExamples.map(\.uniqueID) == ["\"t3\"", "\"t7\""])
            #expect(report.updatedExamples.map(\.record) == [1, 3])
            #expect(report.skippedExamples.map(\.record) == [6])
            #expect(report.problems.map(\.record) == [4, 5])
            #expect(try towns.populations() == ["t1": 1, "t2": 2])
        }
        // The import then has the result of the dry run.
        let report = try await towns.stack.importRecords(
            Into<Town>(), from: .file(path: path), options: ImportOptions(onInvalidRecord: .exclude()))
        #expect((report.inserted, report.updated, report.skipped, report.excluded) == (2, 2, 1, 2))
        #expect(try towns.populations() == ["t1": 10, "t2": 2, "t3": 30, "t7": 7])
    }
}
