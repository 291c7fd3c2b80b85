import Foundation
import PolyStore
import PolyStoreBackend
import TestSupport
import Testing

/// Imports that resume after an interrupted run.
@Suite struct ImportResumeTests {
    private static func options(_ size: Int = 10, _ policy: InvalidRecordPolicy = .stop, startsOver: Bool = false) -> ImportOptions {
        ImportOptions(commit: .batches(of: size, resume: "stops"), onInvalidRecord: policy, startsOver: startsOver)
    }

    /// Returns a file of 45 stops in a format; the 25th is bad if `isBad`.
    private static func text(_ name: String, isBad: Bool) -> String {
        func number(_ record: Int) -> String { isBad && record == 25 ? "\"bad\"" : "\(record)" }
        switch name {
        case "stops.json":
            return "{\"data\": 1, \"stops\": [\n"
                + (1...45).map { "{\"place\": \"p\($0)\", \"number\": \(number($0))}" }.joined(separator: ",\n") + "]}"
        case "stops.csv": return "number,place\n" + (1...45).map { "\(number($0)),\"p\n\($0)\"\n" }.joined()
        default: return (1...45).map { "{\"place\": \"p\($0)\", \"number\": \(number($0))}\n\n" }.joined()
        }
    }

    private static func source(_ path: String) -> RecordSource {
        path.hasSuffix(".json") ? .file(path: path, format: .json(at: "stops")) : .file(path: path)
    }

    @Test(arguments: Backend.allCases, ["stops.jsonl", "stops.json", "stops.csv"])
    func laterRunContinuesBehindTheLastCommittedRecord(_ backend: Backend, _ name: String) async throws {
        let towns = try Towns(backend)
        var path = try towns.write(Self.text(name, isBad: true), to: name)
        for attempt in 1...2 {
            let run = towns.stack.startImport(Into<Stop>(), from: Self.source(path), options: Self.options())
            let error = await #expect(throws: StoreError.self) { try await run.value }
            #expect(error?.message.contains("importing again with the resume name \"stops\" continues after them.") == true)
            #expect((run.report?.records, run.report?.inserted, run.report?.batches) == (20, 20, 2))
            #expect(run.report?.resumedFrom == (attempt == 1 ? nil : 20))
            #expect(try towns.stops() == Array(1...20))
        }
        // The source can change after the committed records.
        path = try towns.write(Self.text(name, isBad: false), to: name)
        let run = towns.stack.startImport(Into<Stop>(), from: Self.source(path), options: Self.options())
        let report = try await run.value
        #expect((report.records, report.inserted, report.batches, report.resumedFrom) == (45, 45, 5, 20))
        #expect(report.isComplete)
        #expect(try towns.stops() == Array(1...45))
        let lines = try await towns.stack.read { try $0.fetchAll(From<Stop>(), Where(\.number == 45)).map(\.place) }
        #expect(lines == [name == "stops.csv" ? "p\n45" : "p45"])
    }

    @Test(arguments: Backend.forObjectLayer)
    func completedImportStartsOver(_ backend: Backend) async throws {
        let towns = try Towns(backend)
        let path = try towns.write(stopLines(1...20), to: "stops.jsonl")
        for round in 1...2 {
            let report = try await towns.stack.importRecords(Into<Stop>(), from: .file(path: path), options: Self.options())
            #expect((report.inserted, report.batches, report.resumedFrom) == (20, 2, nil))
            #expect(try towns.stops().count == 20 * round)
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func completedImportIsSkippedOnRequest(_ backend: Backend) async throws {
        let towns = try Towns(backend)
        let path = try towns.write(stopLines(1...25), to: "stops.jsonl")
        var options = Self.options()
        options.skipsCompleted = true
        let first = try await towns.stack.importRecords(Into<Stop>(), from: .file(path: path), options: options)
        for _ in 1...2 {
            let second = try await towns.stack.importRecords(Into<Stop>(), from: .file(path: path), options: options)
            #expect((second.inserted, second.records, second.batches, second.isComplete, second.resumedFrom) == (25, 25, 3, true, 25))
            #expect((second.inserted, second.records, second.bytes) == (first.inserted, first.records, first.bytes))
            #expect(try towns.stops() == Array(1...25))
        }
        // A source with another name is another import.
        let other = try towns.write(stopLines(26...30), to: "other.jsonl")
        let third = try await towns.stack.importRecords(Into<Stop>(), from: .file(path: other), options: options)
        #expect((third.inserted, third.resumedFrom) == (5, nil))
        #expect(try towns.stops() == Array(1...30))
    }

    @Test(arguments: Backend.forObjectLayer)
    func restartIgnoresThePosition(_ backend: Backend) async throws {
        let towns = try Towns(backend)
        let path = try towns.write(Self.text("stops.jsonl", isBad: true), to: "stops.jsonl")
        await #expect(throws: StoreError.self) {
            try await towns.stack.importRecords(Into<Stop>(), from: .file(path: path), options: Self.options())
        }
        let report = try await towns.stack.importRecords(
            Into<Stop>(), from: .file(path: path), options: Self.options(10, .exclude(), startsOver: true))
        #expect((report.inserted, report.excluded, report.resumedFrom) == (44, 1, nil))
        #expect(try towns.stops().count == 64)
    }

    @Test(arguments: Backend.forObjectLayer)
    func changedSourceIsRefused(_ backend: Backend) async throws {
        let towns = try Towns(backend)
        let path = try towns.write(Self.text("stops.jsonl", isBad: true), to: "stops.jsonl")
        await #expect(throws: StoreError.self) {
            try await towns.stack.importRecords(Into<Stop>(), from: .file(path: path), options: Self.options())
        }
        let good = Self.text("stops.jsonl", isBad: false)
        let changes: [(RecordSource, String)] = [
            (.file(path: try towns.write(good, to: "other.jsonl")), "the source was \"stops.jsonl\" and is \"other.jsonl\""),
            (.file(path: path, format: .csv), "the format was"),
            // Record 20 has other contents, another offset, or is missing.
            (
                .text(good.replacingOccurrences(of: "\"number\": 20", with: "\"number\": 99"), format: .jsonLines, name: "stops.jsonl"),
                "record 20"
            ),
            (.text(" " + good, format: .jsonLines, name: "stops.jsonl"), "record 20"),
            (.text(stopLines(1...3), format: .jsonLines, name: "stops.jsonl"), "record 19"),
        ]
        for (source, difference) in changes {
            let error = await #expect(throws: StoreError.self) {
                try await towns.stack.importRecords(Into<Stop>(), from: source, options: Self.options())
            }
            #expect(error?.code == .invalidValue)
            #expect(error?.message.contains(difference) == true, "\(error?.message ?? "")")
            #expect(error?.message.contains("startsOver: true") == true)
            #expect(try towns.stops() == Array(1...20))
        }
        let report = try await towns.stack.importRecords(
            Into<Stop>(), from: .text(good, format: .jsonLines, name: "stops.jsonl"), options: Self.options())
        #expect(report.resumedFrom == 20)
        #expect(try towns.stops() == Array(1...45))
    }

    @Test(arguments: Backend.forObjectLayer)
    func skippedRecordsAreCountedAcrossRuns(_ backend: Backend) async throws {
        let towns = try Towns(backend)
        // Records 5 and 10 are bad, and 31 ends the first run.
        let lines = (1...45).map { number in
            switch number {
            case 5, 10: "not JSON\n"
            case 31: "{\"place\": \"p\", \"number\": \"bad\"}\n"
            default: stopLines([number])
            }
        }
        let path = try towns.write(lines.joined(), to: "stops.jsonl")
        let policy = InvalidRecordPolicy.ask { $0.record == 31 ? .stop : .exclude }
        await #expect(throws: StoreError.self) {
            try await towns.stack.importRecords(Into<Stop>(), from: .file(path: path), options: Self.options(10, policy))
        }
        let report = try await towns.stack.importRecords(Into<Stop>(), from: .file(path: path), options: Self.options(10, .exclude()))
        #expect((report.records, report.inserted, report.excluded, report.resumedFrom) == (45, 42, 3, 30))
        #expect(try towns.stops() == (1...45).filter { ![5, 10, 31].contains($0) })
    }

    @Test(arguments: Backend.forObjectLayer)
    func sequencesContinueByCount(_ backend: Backend) async throws {
        let towns = try Towns(backend)
        let options = ImportOptions(commit: .batches(of: 4, resume: "towns"))
        var sources = (1...15).map { TownSource($0, name: $0 == 11 ? "refused" : nil) }
        await #expect(throws: StoreError.self) { try await towns.stack.importRecords(Into<Town>(), from: sources, options: options) }
        #expect(try towns.populations().count == 8)
        await #expect(throws: StoreError.self) {
            try await towns.stack.importRecords(Into<Town>(), from: sources.prefix(7).map { $0 }, options: options)
        }
        sources[10].name = "Town 11"
        let stream = AsyncStream<TownSource> { continuation in
            for source in sources { continuation.yield(source) }
            continuation.finish()
        }
        let report = try await towns.stack.importRecords(Into<Town>(), from: stream, options: options)
        #expect((report.inserted, report.updated, report.resumedFrom) == (15, 0, 8))
    }

    @Test(arguments: [Backend.sqlite, .lmdb, .levelDB])
    func positionSurvivesTheEndOfTheStack(_ backend: Backend) async throws {
        let folder = try Folder()
        for number in [Optional(20), nil] {
            let stack = try DataStack(Schema("Towns 1", Town.self, Stop.self), logger: RecordingLogger())
            try stack.addStore(backend.store(in: folder))
            let source = RecordSource.text(Self.text("stops.jsonl", isBad: number != nil), format: .jsonLines, name: "stops.jsonl")
            let run = stack.startImport(Into<Stop>(), from: source, options: Self.options())
            if let number {
                await #expect(throws: StoreError.self) { try await run.value }
                #expect(run.report?.inserted == number)
            } else {
                #expect(try await run.value.resumedFrom == 20)
                #expect(try await stack.read { try $0.fetchCount(From<Stop>()) } == 45)
            }
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func secondRunOfANameEndsTheFirst(_ backend: Backend) async throws {
        let towns = try Towns(backend)
        let (reached, arrived) = AsyncStream.makeStream(of: Void.self)
        let (gate, opened) = AsyncStream.makeStream(of: Void.self)
        let path = try towns.write(stopLines(1...30), to: "stops.jsonl")
        let records = Protected<[SourceRecord]>([])
        let reader = try RecordSource.file(path: path).makeReader()
        while let record = try reader.next() { records.withLock { $0.append(record) } }
        let all = records.withLock { $0 }
        let waiting = AsyncThrowingStream<SourceRecord, any Error> { continuation in
            let task = Task {
                for (index, record) in all.enumerated() {
                    if index == 15 {
                        arrived.yield()
                        for await _ in gate { break }
                    }
                    continuation.yield(record)
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
        let first = towns.stack.startImport(Into<Stop>(), from: waiting, options: Self.options())
        for await _ in reached { break }
        // The first batch is complete and will be committed. Before that, the second run would be the one that ends.
        while try await towns.stack.read({ try $0.fetchCount(From<Stop>()) }) < 10 { try await Task.sleep(for: .milliseconds(1)) }
        let second = try await towns.stack.importRecords(Into<Stop>(), from: all, options: Self.options(startsOver: true))
        #expect(second.inserted == 30)
        opened.yield()
        let error = await #expect(throws: StoreError.self) { try await first.value }
        #expect(error?.code == .conflict)
    }
}
