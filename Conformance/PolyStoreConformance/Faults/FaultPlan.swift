import PolyStoreBackend

/// Which operations of a ``FaultyEngine`` fail, and how. Can be changed while the engine is in use.
public final class FaultPlan: Sendable {
    /// What the record layer asks of an engine.
    public enum Operation: String, Sendable, Hashable, CaseIterable {
        case snapshot, get, cursor, seek, last, next, previous, apply, verify
    }

    public enum Effect: Sendable {
        /// The operation is not carried out, and throws.
        case fail(StoreError)
        /// The operation is carried out, and throws all the same: a write whose acknowledgement is lost.
        case failAfterwards(StoreError)
        /// The first half of a batch's keys is applied, then `apply` throws. Other operations fail.
        case tear(StoreError)
        /// The closure runs before the operation: for delays, and to wait for something.
        case delay(@Sendable () -> Void)
    }

    private struct Rule: Sendable {
        /// nil: any operation.
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

    public init() {}

    /// Gives the N-th operation of a kind an effect, counted from 1 since the plan was made.
    /// - Parameters:
    ///   - operation: nil for the N-th of all.
    ///   - isForEver: also every later one.
    public func add(_ effect: Effect, to operation: Operation?, number: Int, isForEver: Bool = false) {
        state.withLock { $0.rules.append(Rule(operation: operation, number: number, isForEver: isForEver, effect: effect)) }
    }

    /// Lets everything succeed again.
    public func removeAll() { state.withLock { $0.rules = [] } }

    /// How many operations of a kind there were.
    public func count(_ operation: Operation) -> Int { state.withLock { $0.counts[operation, default: 0] } }
    /// How many operations there were.
    public var total: Int { state.withLock { $0.total } }

    /// Counts an operation, and tells what becomes of it.
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

    /// Carries an operation out, with what the plan has for it.
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
