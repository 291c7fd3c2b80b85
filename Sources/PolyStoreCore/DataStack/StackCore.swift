import Dispatch
import PolyStoreBackend

/// What a stack and its contexts share. Contexts hold this, never the stack, so that a dropped stack ends.
final class StackCore: Sendable {
    let schema: Schema
    /// ``Schema/resolved()``.
    private let resolved: [(configuration: String?, schema: ResolvedSchema)]
    let table = Protected(StoreTable())
    let lane = WriterLane()
    let groupLimits = Protected(GroupLimits())
    let hub = CommitHub()
    private let loggerBox: Protected<any StoreLogger>
    /// Dispatch's threads, as a backend may block and Swift's cooperative ones must not.
    private let readerQueue = DispatchQueue(label: "polystore.readers", attributes: .concurrent)

    init(schema: Schema, resolved: [(configuration: String?, schema: ResolvedSchema)], logger: any StoreLogger) {
        self.schema = schema
        self.resolved = resolved
        loggerBox = Protected(logger)
    }

    deinit {
        for store in table.withLock({ $0.stores }) {
            do { try store.backend.close() } catch { logger.write(.error, "Closing \(store.url): \(error)") }
        }
    }

    /// A configuration's entities and their classes.
    /// - Throws: `storeNotFound` for a configuration that the schema does not have.
    func configuration(_ name: String?) throws -> (schema: ResolvedSchema, models: [any Model.Type]) {
        let models = try schema.models(of: name)
        let known = resolved.first { $0.configuration == name }?.schema
        return (try known ?? ResolvedSchema(schema.description(of: models)), models)
    }

    var logger: any StoreLogger {
        get { loggerBox.withLock { $0 } }
        set { loggerBox.withLock { $0 = newValue } }
    }

    func read(_ work: @escaping @Sendable () -> Void) { readerQueue.async(execute: work) }
}

extension DataStack {
    /// How many transactions wait for their turn; for tests.
    package var transactionsInLine: Int { core.lane.count }

    /// When a group of transactions takes no more; for tests.
    package var groupLimits: GroupLimits {
        get { core.groupLimits.withLock { $0 } }
        set { core.groupLimits.withLock { $0 = newValue } }
    }
}

extension StackCore {
    /// A transaction on the lane's queue.
    func transact<T: Sendable>(_ durability: Durability?, _ body: @escaping @Sendable (Transaction) throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            let job = WriterLane.Job(durability: durability) { group in
                var value: T?
                group.run(durability, { value = try body($0) }) { error in
                    continuation.resume(with: Result { try Self.outcome(value, error) })
                }
            }
            lane.enqueue(job, self)
        }
    }

    /// A transaction on the caller's thread.
    /// - Parameter isPatient: see ``WriterLane/leave(_:isPatient:)``.
    func transactAndWait<T: Sendable>(_ durability: Durability?, isPatient: Bool, _ body: (Transaction) throws -> T) throws -> T {
        guard !lane.isHeldByCaller else {
            throw StoreError(
                .misuse, "A transaction was begun inside another one's body and would wait for itself for ever; use the outer transaction.")
        }
        let receipt = Receipt()
        var value: T?
        let group = lane.enter(durability, self)
        group.run(durability, { value = try body($0) }, done: { receipt.arrive($0) })
        lane.leave(group, isPatient: isPatient)
        return try Self.outcome(value, receipt.wait())
    }

    private static func outcome<T>(_ value: T?, _ error: (any Error)?) throws -> T {
        if let error { throw error }
        guard let value else { throw StoreError(.closed, "The transaction has ended without a result.") }
        return value
    }
}

/// The end of a transaction, which another thread may bring.
private final class Receipt: @unchecked Sendable {  // the error is written before the signal and read after it
    private let arrival = DispatchSemaphore(value: 0)
    private var error: (any Error)?

    func arrive(_ error: (any Error)?) {
        self.error = error
        arrival.signal()
    }

    func wait() -> (any Error)? {
        arrival.wait()
        return error
    }
}
