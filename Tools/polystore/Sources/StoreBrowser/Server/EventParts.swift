/// Parts of an answer that several tasks send and one task writes, each sender waiting until its part is written.
struct EventParts: Sendable {
    private struct Part: Sendable {
        let bytes: [UInt8]
        let written: CheckedContinuation<Void, any Error>
    }

    private let parts: AsyncStream<Part>
    private let continuation: AsyncStream<Part>.Continuation

    init() { (parts, continuation) = AsyncStream.makeStream() }

    /// Waits until a part is written.
    /// - Throws: `CancellationError` if nothing is written any longer, and the error of the writing.
    func send(_ bytes: [UInt8]) async throws {
        try await withCheckedThrowingContinuation { written in
            if case .enqueued = continuation.yield(Part(bytes: bytes, written: written)) { return }
            written.resume(throwing: CancellationError())
        }
    }

    /// Ends the parts: ``receive(_:)`` returns after those that were sent before.
    func finish() { continuation.finish() }

    /// Writes the parts until the end of them, or until the task is cancelled.
    func receive(_ write: ([UInt8]) async throws -> Void) async throws {
        for await part in parts {
            do { try await write(part.bytes) } catch {
                part.written.resume(throwing: error)
                await refuse()
                throw error
            }
            part.written.resume()
        }
        await refuse()
    }

    /// Ends the parts, and the waiting of those who sent the rest of them.
    private func refuse() async {
        continuation.finish()
        for await part in parts { part.written.resume(throwing: CancellationError()) }
    }
}
