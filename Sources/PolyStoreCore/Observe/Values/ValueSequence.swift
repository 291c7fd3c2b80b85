/// The results of a query of values: the current one, then one after each commit that changes it.
///
/// Each iteration observes the stack on its own, from its first `next()` until it ends. A consumer that is slower than the commits gets the newest
/// result; equal results are not delivered twice in a row. The sequence ends when the task is cancelled or the stack is released, and throws what the
/// query throws.
public struct ValueSequence<Value: Sendable & Equatable>: AsyncSequence, Sendable {
    let makeObservation: @Sendable (Handoff<Value>) -> ObservedValue<Value>?

    public func makeAsyncIterator() -> Iterator { Iterator(makeObservation: makeObservation) }

    public struct Iterator: AsyncIteratorProtocol {
        private let makeObservation: @Sendable (Handoff<Value>) -> ObservedValue<Value>?
        private let handoff = Handoff<Value>()
        private var observation: ObservedValue<Value>?
        private var last: Value?

        init(makeObservation: @escaping @Sendable (Handoff<Value>) -> ObservedValue<Value>?) { self.makeObservation = makeObservation }

        /// The newest result that differs from the one before; nil at the end.
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
