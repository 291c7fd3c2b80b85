import Dispatch
import PolyStoreBackend

/// What a stack and its contexts share. Contexts hold this, never the stack, so that a dropped stack ends.
final class StackCore: Sendable {
    let schema: Schema
    let table = Protected(StoreTable())
    let lane = WriterLane()
    let hub = CommitHub()
    private let loggerBox: Protected<any StoreLogger>
    /// Runs transactions one after another. Dispatch threads, as a backend may block and Swift's cooperative ones must not.
    private let writerQueue: Protected<DispatchQueue>
    private let readerQueue = DispatchQueue(label: "polystore.readers", attributes: .concurrent)

    init(schema: Schema, logger: any StoreLogger) {
        self.schema = schema
        loggerBox = Protected(logger)
        writerQueue = Protected(DispatchQueue(label: "polystore.writer"))
    }

    deinit {
        for store in table.withLock({ $0.stores }) {
            do { try store.backend.close() } catch { logger.write(.error, "Closing \(store.url): \(error)") }
        }
    }

    var logger: any StoreLogger {
        get { loggerBox.withLock { $0 } }
        set { loggerBox.withLock { $0 = newValue } }
    }

    /// Puts a transaction at the end of the line and returns at once.
    func enqueue(_ work: @escaping @Sendable () -> Void) {
        // Ticket and place in the queue are taken together: otherwise two could have opposite orders, and wait for each other.
        writerQueue.withLock { queue in
            let ticket = lane.ticket()
            queue.async { self.lane.run(ticket) { work() } }
        }
    }

    /// Waits for the line, then runs on the caller's thread.
    func runAndWait<T>(_ work: () throws -> T) throws -> T {
        guard !lane.isHeldByCaller else {
            throw StoreError(
                .misuse, "A transaction was begun inside another one's body and would wait for itself for ever; use the outer transaction.")
        }
        return try lane.run(lane.ticket(), work)
    }

    func read(_ work: @escaping @Sendable () -> Void) { readerQueue.async(execute: work) }

    /// One transaction from start to commit; in the lane.
    func transact<T>(_ durability: Durability?, _ body: (Transaction) throws -> T) throws -> T {
        let transaction = Transaction(core: self, table: table.withLock { $0 }, durability: durability)
        defer { transaction.end() }
        let result = try body(transaction)
        hub.publish(try transaction.commitChanges())
        return result
    }
}
