import PolyStoreKernel
import PolyStoreRuns

/// The steps of an observed list, for one consumer.
struct ListSteps {
    private let observation: ListObservation
    private let handoff = Handoff<ListStep>()
    private var token: ObservationToken?
    private var last: ListContents?

    init(_ observation: ListObservation) { self.observation = observation }

    /// Returns the last delivered state, `nil` at first, and the changes since then; `nil` at the end.
    mutating func next(isolation actor: isolated (any Actor)?) async throws -> (old: ListContents?, step: ListStep)? {
        if token == nil, !handoff.isFinished {
            do {
                token = try await observation.start(handoff)
            } catch {
                handoff.discard()
                throw error
            }
        }
        guard let step = try await handoff.next() else {
            token = nil
            return nil
        }
        defer { last = step.contents }
        return (last, step)
    }
}
