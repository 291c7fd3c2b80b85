import Foundation
import PolyStore
import PolyStoreBackend
import TestSupport
import Testing

/// Progress, cancellation and handles of import runs.
@Suite struct ImportProgressTests {
    /// A sequence that waits in the middle until it is resumed.
    private struct Gated: AsyncSequence, Sendable {
        let count: Int
        let pause: Int
        let reached: AsyncStream<Void>.Continuation
        let gate: AsyncStream<Void>

        struct Iterator: AsyncIteratorProtocol {
            let sequence: Gated
            var number = 0

            mutating func next() async throws -> TownSource? {
                guard number < sequence.count else { return nil }
                if number == sequence.pause {
                    sequence.reached.yield()
                    for await _ in sequence.gate { break }
                    try Task.checkCancellation()
                }
                number += 1
                return TownSource(number)
            }
        }

        func makeAsyncIterator() -> Iterator { Iterator(sequence: self) }
    }

    @Test(arguments: Backend.forObjectLayer)
    func updatesEndWithTheWholeSource(_ backend: Backend) async throws {
        let towns = try Towns(backend)
        let text = stopLines(1...500)
        let path = try towns.write(text, to: "stops.jsonl")
        let run = towns.stack.startImport(Into<Stop>(), from: .file(path: path), options: ImportOptions(commit: .batches(of: 50)))
        var last: ImportProgress?
        for await progress in run.updates {
            #expect(progress.records >= last?.records ?? 0)
            #expect(progress.batches >= last?.batches ?? 0)
            #expect(progress.fractionCompleted ?? 0 >= last?.fractionCompleted ?? 0)
            last = progress
        }
        #expect(last?.isFinished == true)
        #expect((last?.records, last?.inserted, last?.batches) == (500, 500, 10))
        #expect((last?.bytes, last?.totalBytes) == (Int64(text.utf8.count - 1), Int64(text.utf8.count)))
        #expect(last?.fractionCompleted == 1)
        let report = try await run.value
        #expect(report == run.report)
        #expect(run.progress.fractionCompleted == 1)
        #expect(run.progress.isFinished)
        #expect(run.progress.localizedDescription == "Importing Stop from stops.jsonl")
        #expect(run.progress.localizedAdditionalDescription.hasPrefix("500 records"))
        // A late reader receives the last value.
        var late: [ImportProgress] = []
        for await progress in run.updates { late.append(progress) }
        #expect(late == [last])
    }

    @Test(arguments: Backend.forObjectLayer)
    func cancelledRunKeepsItsBatches(_ backend: Backend) async throws {
        let towns = try Towns(backend)
        let (reached, continuation) = AsyncStream.makeStream(of: Void.self)
        let (gate, _) = AsyncStream.makeStream(of: Void.self)
        let run = towns.stack.startImport(
            Into<Town>(), from: Gated(count: 100, pause: 25, reached: continuation, gate: gate),
            options: ImportOptions(commit: .batches(of: 10)))
        for await _ in reached { break }
        run.cancel()
        let error = await #expect(throws: StoreError.self) { try await run.value }
        #expect(error?.code == .cancelled)
        #expect(error?.message == "The import of Town was cancelled. The records up to 20 are committed.", "\(error?.message ?? "")")
        #expect((run.report?.inserted, run.report?.records, run.report?.isComplete) == (20, 20, false))
        #expect(try towns.populations().count == 20)
    }

    @Test func progressCancelsTheRun() async throws {
        let towns = try Towns(.memory)
        let (reached, continuation) = AsyncStream.makeStream(of: Void.self)
        let (gate, _) = AsyncStream.makeStream(of: Void.self)
        let run = towns.stack.startImport(Into<Town>(), from: Gated(count: 100, pause: 5, reached: continuation, gate: gate))
        for await _ in reached { break }
        #expect(run.progress.isCancellable)
        run.progress.cancel()
        let error = await #expect(throws: StoreError.self) { try await run.value }
        #expect(error?.code == .cancelled)
        #expect(error?.message.hasSuffix("Nothing was committed.") == true)
        #expect(try towns.populations().isEmpty)
    }

    @Test func cancelledTaskCancelsItsImport() async throws {
        let towns = try Towns(.sqlite)
        let (reached, continuation) = AsyncStream.makeStream(of: Void.self)
        let (gate, _) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            try await towns.stack.importRecords(
                Into<Town>(), from: Gated(count: 100, pause: 30, reached: continuation, gate: gate),
                options: ImportOptions(commit: .batches(of: 10)))
        }
        for await _ in reached { break }
        task.cancel()
        let error = await #expect(throws: StoreError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(try towns.populations().count == 30)
    }

    @Test(arguments: Backend.forObjectLayer)
    func cancellationStopsASequenceBetweenRecords(_ backend: Backend) async throws {
        let towns = try Towns(backend)
        let handle = Protected<ImportRun?>(nil)
        // The sequence cancels its own import at the 57th element, when the handle exists.
        let sources = (1...1000).lazy.map { number -> TownSource in
            if number == 57 { handle.wait(until: { $0 != nil }, { $0 })?.cancel() }
            return TownSource(number)
        }
        let run = towns.stack.startImport(Into<Town>(), from: SendableSequence(sources), options: ImportOptions(commit: .batches(of: 10)))
        handle.signal { $0 = run }
        let error = await #expect(throws: StoreError.self) { try await run.value }
        #expect(error?.code == .cancelled)
        #expect((run.report?.inserted, run.report?.batches) == (50, 5))
    }

    @Test func queueIsFreeWhileASourceWaits() async throws {
        let towns = try Towns(.memory)
        let (reached, continuation) = AsyncStream.makeStream(of: Void.self)
        let (gate, opened) = AsyncStream.makeStream(of: Void.self)
        let run = towns.stack.startImport(Into<Town>(), from: Gated(count: 10, pause: 5, reached: continuation, gate: gate))
        for await _ in reached { break }
        try await towns.stack.perform { try $0.create(Into<Stop>()).number = 7 }
        opened.yield()
        #expect(try await run.value.inserted == 10)
        #expect(try towns.stops() == [7])
    }
}

/// A sequence whose elements are created on demand by closures that can run on any thread.
private struct SendableSequence<Base: Sequence>: Sequence, @unchecked Sendable {  // the closures of the test are safe on any thread
    let base: Base
    init(_ base: Base) { self.base = base }
    func makeIterator() -> Base.Iterator { base.makeIterator() }
}
