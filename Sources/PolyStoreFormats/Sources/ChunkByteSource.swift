import Foundation

/// A source of bytes from an asynchronous sequence, for a thread that may block.
final class ChunkByteSource: ByteSource {
    private let queue = ChunkQueue()
    private let task: Task<Void, Never>
    private var chunk: ArraySlice<UInt8> = []

    init<Chunks: AsyncSequence & Sendable>(_ chunks: Chunks) where Chunks.Element: Sequence<UInt8> & Sendable {
        task = Task { [queue] in
            do {
                for try await chunk in chunks where await !queue.add([UInt8](chunk)) { return }
                queue.finish(nil)
            } catch {
                queue.finish(error)
            }
        }
    }

    deinit {
        task.cancel()
        queue.close()
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        while chunk.isEmpty {
            guard let next = try queue.take() else { return 0 }
            chunk = next[...]
        }
        let count = min(buffer.count, chunk.count)
        buffer.copyBytes(from: chunk.prefix(count))
        chunk = chunk.dropFirst(count)
        return count
    }
}

/// A bounded queue between a producing task and a consuming thread.
///
/// `@unchecked Sendable`: every property is accessed under the condition's lock.
private final class ChunkQueue: @unchecked Sendable {
    private let condition = NSCondition()
    private var chunks: [[UInt8]] = []
    private var waiting: CheckedContinuation<Bool, Never>?
    private var isFinished = false
    private var isClosed = false
    private var error: (any Error)?

    static let capacity = 4

    /// Adds a chunk, waiting for capacity. Returns false if the reader was closed.
    func add(_ chunk: [UInt8]) async -> Bool {
        if chunk.isEmpty { return true }
        return await withCheckedContinuation { continuation in
            condition.lock()
            defer { condition.unlock() }
            if isClosed { return continuation.resume(returning: false) }
            chunks.append(chunk)
            condition.signal()
            if chunks.count < Self.capacity { continuation.resume(returning: true) } else { waiting = continuation }
        }
    }

    func finish(_ error: (any Error)?) {
        condition.lock()
        self.error = error
        isFinished = true
        condition.signal()
        condition.unlock()
    }

    /// Waits for the next chunk and returns it; nil at the end.
    func take() throws -> [UInt8]? {
        condition.lock()
        while chunks.isEmpty, !isFinished { condition.wait() }
        let chunk = chunks.isEmpty ? nil : chunks.removeFirst()
        let resumed = waiting
        waiting = nil
        let error = chunk == nil ? error : nil
        condition.unlock()
        resumed?.resume(returning: true)
        if let error { throw error }
        return chunk
    }

    func close() {
        condition.lock()
        isClosed = true
        let resumed = waiting
        waiting = nil
        condition.unlock()
        resumed?.resume(returning: false)
    }
}
