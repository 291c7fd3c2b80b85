import PolyStoreKernel
import PolyStoreRuns

/// The results of a query of values: the current one, then one after each commit that changes it.
///
/// Each iteration observes the stack independently, from its first `next()` until it ends. A slow consumer receives only the latest
/// result; equal consecutive results are delivered once. The sequence ends when the task is cancelled or the stack is released, and throws errors of the
/// query.
public struct ValueSequence<Value: Sendable & Equatable>: AsyncSequence, Sendable {
    let makeObservation: @Sendable (Handoff<Value>) -> ObservedValue<Value>?

    public func makeAsyncIterator() -> Iterator { Iterator(makeObservation: makeObservation) }

    /// The iterator of the sequence.
    public struct Iterator: AsyncIteratorProtocol {
        private let makeObservation: @Sendable (Handoff<Value>) -> ObservedValue<Value>?
        private let handoff = Handoff<Value>()
        private var observation: ObservedValue<Value>?
        private var last: Value?

        init(makeObservation: @escaping @Sendable (Handoff<Value>) -> ObservedValue<Value>?) { self.makeObservation = makeObservation }

        /// Returns the latest result that differs from the previous one; `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Value? {
            if observation == nil, !handoff.isFinished {
                observation = makeObservation(handoff)
                if let observation { observation.start() } else { handoff.finish() }
            }
            while let value = try await handoff.next() {
                guard value != last else { continue }
                last = value
                return value
            }
            observation?.end()
            return nil
        }
    }
}
