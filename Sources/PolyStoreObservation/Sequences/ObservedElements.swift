import PolyStoreKernel
import PolyStoreRuns

/// Starts an observation that passes states to a handoff until the token is released.
typealias ObservationStart<State: Sendable> = @Sendable (Handoff<State>) async throws -> ObservationToken

/// Ends an observation when it is released.
final class ObservationToken: Sendable {
    private let end: @Sendable () -> Void

    init(end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }
}

/// One iteration over the states of an observation, which begins with the first element.
struct ObservedElements<State: Sendable, Element> {
    private let start: ObservationStart<State>
    private let element: (State) -> Element?
    private let handoff = Handoff<State>()
    private var token: ObservationToken?

    /// - Parameter element: Returns the element for a state; `nil` if it is not delivered.
    init(_ start: @escaping ObservationStart<State>, _ element: @escaping (State) -> Element?) {
        self.start = start
        self.element = element
    }

    /// Returns the next element; `nil` at the end.
    mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
        if token == nil, !handoff.isFinished {
            do {
                token = try await start(handoff)
            } catch {
                handoff.discard()
                throw error
            }
        }
        while let state = try await handoff.next() {
            if let element = element(state) { return element }
        }
        token = nil
        return nil
    }
}
