import Foundation
import PolyStoreFormats
import Synchronization
import Testing

@Suite struct SequenceTests {
    static func lines(_ count: Int) -> String { (0..<count).map { "{\"n\":\($0)}\n" }.joined() }

    @Test func recordsArriveInOrder() async throws {
        var count = 0
        for try await record in RecordSource.text(Self.lines(10_000), format: .jsonLines).records {
            #expect(record["n"]?.int == count)
            count += 1
        }
        #expect(count == 10_000)
    }

    @MainActor @Test func recordsArriveOnTheCallersActor() async throws {
        var sum = 0
        for try await record in RecordSource.text(Self.lines(3000), format: .jsonLines).records { sum += record["n"]?.int ?? 0 }
        #expect(sum == 3000 * 2999 / 2)
    }

    @Test func anErrorIsThrownAfterTheRecordsBeforeIt() async throws {
        let source = RecordSource.text("{\"n\":0}\n{\n{\"n\":1}\n", format: .jsonLines)
        var iterator = source.records.makeAsyncIterator()
        #expect(try await iterator.next()?["n"] == 0)
        await #expect(throws: RecordError.self) { try await iterator.next() }
        #expect(try await iterator.next()?["n"] == 1)
        #expect(try await iterator.next() == nil)
        #expect(try await iterator.next() == nil)
    }

    @Test func recoverableErrorsCanBeHandled() async throws {
        let source = RecordSource.text("{\"n\":0}\n{\n{\"n\":1}\n]\n", format: .jsonLines)
        let errors = Collected()
        var found: [Int?] = []
        for try await record in source.records(onRecoverableError: { errors.add($0) }) { found.append(record["n"]?.int) }
        #expect(found == [0, 1])
        #expect(errors.lines == [2, 4])
        await #expect(throws: CancellationError.self) {
            for try await _ in source.records(onRecoverableError: { _ in throw CancellationError() }) {}
        }
    }

    @Test func aSequenceContinuesAfterARecord() async throws {
        let source = RecordSource.text(Self.lines(100), format: .jsonLines)
        var positions: [RecordPosition] = []
        for try await record in source.records { positions.append(record.position) }
        var rest: [Int?] = []
        for try await record in source.records(after: positions[89]) { rest.append(record["n"]?.int) }
        #expect(rest == Array(90..<100))
    }

    @Test func chunksOfAnAsynchronousSequenceAreRead() async throws {
        let bytes = Array(Self.lines(2000).utf8)
        let chunks = AsyncStream<[UInt8]> { continuation in
            for start in stride(from: 0, to: bytes.count, by: 37) { continuation.yield(Array(bytes[start..<min(start + 37, bytes.count)])) }
            continuation.finish()
        }
        var count = 0
        for try await record in RecordSource.chunks(chunks, format: .jsonLines).records {
            #expect(record["n"]?.int == count)
            count += 1
        }
        #expect(count == 2000)
        struct Failure: Error {}
        let failing = AsyncThrowingStream<Data, any Error> { continuation in
            continuation.yield(Data("{}\n".utf8))
            continuation.finish(throwing: Failure())
        }
        var iterator = RecordSource.chunks(failing, format: .jsonLines).records.makeAsyncIterator()
        #expect(try await iterator.next()?.fields == [:])
        await #expect(throws: Failure.self) { try await iterator.next() }
    }

    /// A record arrives before the source is asked for more bytes.
    @Test func recordsOfASourceThatWaitsArriveAtOnce() async throws {
        let source = WaitingSource(Array("{\"n\":0}\n{\"n\":1}\n{\"n\":".utf8))
        var iterator = RecordSource(name: nil, format: .jsonLines) { source }.records.makeAsyncIterator()
        #expect(try await iterator.next()?["n"] == 0)
        #expect(try await iterator.next()?["n"] == 1)
        source.end()
        await #expect(throws: RecordError.self) { try await iterator.next() }
    }

    @Test func cancellingEndsAWaitForASourceThatBlocks() async throws {
        let source = WaitingSource([])
        let task = Task {
            for try await _ in RecordSource(name: nil, format: .jsonLines, open: { source }).records {}
        }
        await source.waitUntilRead()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        source.end()
    }

    /// The thread reads a bounded amount ahead of a consumer that stops reading.
    @Test func aSlowConsumerHoldsTheSourceBack() async throws {
        let source = EndlessSource()
        var iterator = RecordSource(name: nil, format: .jsonLines) { source }.records.makeAsyncIterator()
        for _ in 0..<10 { _ = try await iterator.next() }
        // At most the batch in use, two complete ones and one being read; a batch takes less than two chunks of the buffer.
        for _ in 0..<5 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(source.bytes < 8 * 512 << 10)
    }
}

private final class Collected: Sendable {
    private let storage = Mutex<[Int]>([])
    func add(_ error: RecordError) { storage.withLock { $0.append(error.position?.line ?? 0) } }
    var lines: [Int] { storage.withLock { $0 } }
}

/// Some bytes, followed by a wait.
///
/// `@unchecked Sendable`: the state is accessed under the condition's lock.
private final class WaitingSource: ByteSource, @unchecked Sendable {
    private let condition = NSCondition()
    private var bytes: [UInt8]
    private var isEnded = false
    private var isRead = false
    private var waiting: CheckedContinuation<Void, Never>?

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        condition.lock()
        defer { condition.unlock() }
        if !bytes.isEmpty {
            buffer.copyBytes(from: bytes)
            defer { bytes = [] }
            return bytes.count
        }
        isRead = true
        waiting?.resume()
        waiting = nil
        while !isEnded { condition.wait() }
        return 0
    }

    func waitUntilRead() async {
        await withCheckedContinuation { continuation in
            condition.lock()
            defer { condition.unlock() }
            if isRead { continuation.resume() } else { waiting = continuation }
        }
    }

    func end() {
        condition.lock()
        isEnded = true
        condition.signal()
        condition.unlock()
    }
}

/// An endless sequence of lines.
private final class EndlessSource: ByteSource, Sendable {
    private let count = Mutex(0)
    var bytes: Int { count.withLock { $0 } }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let line = Array("{\"n\":1}\n".utf8)
        let size = buffer.count / line.count * line.count
        for index in 0..<size { buffer[index] = line[index % line.count] }
        count.withLock { $0 += size }
        return size
    }
}
