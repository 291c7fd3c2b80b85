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
                group.run(durability, body) { continuation.resume(with: $0) }
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
        let receipt = Receipt<T>()
        let group = lane.enter(durability, self)
        group.run(durability, body) { receipt.arrive($0) }
        lane.leave(group, isPatient: isPatient)
        return try receipt.wait().get()
    }
}

/// A result that another thread may bring.
private final class Receipt<T>: @unchecked Sendable {  // the result is written before the signal and read after it
    private let arrival = DispatchSemaphore(value: 0)
    private var result: Result<T, any Error>?

    func arrive(_ result: Result<T, any Error>) {
        self.result = result
        arrival.signal()
    }

    func wait() -> Result<T, any Error> {
        arrival.wait()
        return result ?? .failure(StoreError(.closed, "The transaction has ended without a result."))
    }
}
