import PolyStoreBackend

/// The operations of a ``FaultyEngine`` that fail, and how. It can be modified while the engine is in use.
public final class FaultPlan: Sendable {
    /// An operation of an engine.
    public enum Operation: String, Sendable, Hashable, CaseIterable {
        /// ``OrderedEngine/snapshot()``.
        case snapshot
        /// ``EngineSnapshot/get(_:)``.
        case get
        /// ``EngineSnapshot/cursor()``.
        case cursor
        /// ``EngineCursor/seek(_:)``.
        case seek
        /// ``EngineCursor/last()``.
        case last
        /// ``EngineCursor/next()``.
        case next
        /// ``EngineCursor/previous()``.
        case previous
        /// ``OrderedEngine/apply(_:_:)``.
        case apply
        /// ``OrderedEngine/verify()``.
        case verify
    }

    /// The effect of a fault on an operation.
    public enum Effect: Sendable {
        /// The operation is not executed and throws.
        case fail(StoreError)
        /// The operation is executed and throws: a write whose acknowledgement is lost.
        case failAfterwards(StoreError)
        /// The first half of a batch's keys is applied, then `apply` throws. Other operations fail.
        case tear(StoreError)
        /// The closure runs before the operation, to delay it or to wait for another thread.
        case delay(@Sendable () -> Void)
    }

    private struct Rule: Sendable {
        /// The operation; `nil` for any.
        let operation: Operation?
        let number: Int
        let isForEver: Bool
        let effect: Effect
    }

    private struct State: Sendable {
        var rules: [Rule] = []
        var counts: [Operation: Int] = [:]
        var total = 0
    }

    private let state = Protected(State())

    /// Creates a plan without faults.
    public init() {}

    /// Adds an effect to the N-th operation of a kind, counted from 1 since the plan was created.
    /// - Parameters:
    ///   - effect: What the operation does instead.
    ///   - operation: The kind of operation; `nil` counts all operations.
    ///   - number: The number of the operation, from 1.
    ///   - isForEver: Whether the effect also applies to all later operations.
    public func add(_ effect: Effect, to operation: Operation?, number: Int, isForEver: Bool = false) {
        state.withLock { $0.rules.append(Rule(operation: operation, number: number, isForEver: isForEver, effect: effect)) }
    }

    /// Removes all faults.
    public func removeAll() { state.withLock { $0.rules = [] } }

    /// Returns the number of operations of a kind so far.
    public func count(_ operation: Operation) -> Int { state.withLock { $0.counts[operation, default: 0] } }
    /// The number of operations so far.
    public var total: Int { state.withLock { $0.total } }

    /// Counts an operation and returns its effect.
    func next(_ operation: Operation) -> Effect? {
        state.withLock { state in
            state.total += 1
            state.counts[operation, default: 0] += 1
            let ofKind = state.counts[operation, default: 0]
            return state.rules.first { rule in
                guard rule.operation == nil || rule.operation == operation else { return false }
                let number = rule.operation == nil ? state.total : ofKind
                return rule.isForEver ? number >= rule.number : number == rule.number
            }?.effect
        }
    }

    /// Executes an operation with the effect that the plan has for it.
    func perform<Result>(_ operation: Operation, _ body: () throws -> Result) throws -> Result {
        switch next(operation) {
        case nil: return try body()
        case .fail(let error), .tear(let error): throw error
        case .failAfterwards(let error):
            _ = try body()
            throw error
        case .delay(let wait):
            wait()
            return try body()
        }
    }
}
