import EngineTestSupport
import Foundation
import PolyStoreBackend
import SmallStores

/// Waits for other transactions while the system's clock moves. Short waits must end, and long ones must not end early.
struct Clock {
    let engine: String
    let path: String

    func run() {
        do {
            switch engine {
            case "sqlite": try waitForWriters()
            case "lmdb":
                try waitForReaders()
                try waitForMigrations()
            default: break  // The record layer's waits are those of LMDB.
            }
        } catch { fail(summary(error)) }
    }

    private func open(_ timeout: Duration) throws -> Store {
        guard let configuration = SmallStores.configuration(engine, path, timeout: timeout) else { fail("Unknown engine: \(engine).") }
        return try Store(configuration, try Notes.schema())
    }

    private func expect(_ code: StoreError.Code, _ what: String, _ body: () throws -> Void) throws {
        do { try body() } catch let error as StoreError where error.code == code { return }
        throw Failure("\(what) succeeded")
    }

    private func begin(_ store: Store) throws { try store.backend.beginWrite().rollback() }

    /// Runs work on a thread while something prevents it, ends that, and waits for the work.
    private func waiting(_ work: @escaping @Sendable () throws -> Void, ending: () throws -> Void) throws {
        let (begun, ended, failure) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), Protected<(any Error)?>(nil))
        Thread.detachNewThread {
            begun.signal()
            do { try work() } catch { failure.withLock { $0 = error } }
            ended.signal()
        }
        begun.wait()
        // The work probably waits by now. It must succeed even if it does not.
        usleep(100_000)
        try ending()
        ended.wait()
        if let error = failure.withLock({ $0 }) { throw error }
    }

    private func waitForWriters() throws {
        let store = try open(.milliseconds(200))
        // Connections of another store of the file wait in SQLite, those of the same store in the pool.
        let other = try open(.milliseconds(200))
        let writer = try store.backend.beginWrite()
        for (waiting, what) in [(store, "A second writer of the store"), (other, "A writer of another store of the file")] {
            try expect(.busy, what) { try begin(waiting) }
        }
        writer.rollback()
        let (patient, second) = (try open(.seconds(60)), try open(.seconds(60)))
        for waiting in [patient, second] {
            let writer = try patient.backend.beginWrite()
            try self.waiting({ try waiting.backend.beginWrite().rollback() }, ending: { writer.rollback() })
        }
    }

    /// A map grows only when no transaction uses it.
    private func waitForReaders() throws {
        let store = try open(.milliseconds(200))
        let reader = try store.backend.beginRead()
        try expect(.full, "A write that needs a larger map") { try store.addNotes(1...20, size: 100_000) }
        reader.end()
        try store.addNotes(1...20, size: 100_000)
        try store.backend.close()
        let patient = try open(.seconds(60))
        let other = try patient.backend.beginRead()
        try waiting({ try patient.addNotes(21...80, size: 100_000) }, ending: { other.end() })
        // The next store of the file has the timeouts of the open one.
        try patient.backend.close()
    }

    private func waitForMigrations() throws {
        for timeout in [Duration.milliseconds(200), .seconds(60)] {
            let (store, other) = (try open(timeout), try open(timeout))
            let migration = try store.backend.beginMigration(NoteMigration.change())
            if timeout < .seconds(1) {
                try expect(.busy, "A writer beside a migration") { try begin(other) }
                migration.rollback()
            } else {
                try waiting({ try other.backend.beginWrite().rollback() }, ending: { migration.rollback() })
            }
            try store.backend.close()
            try other.backend.close()
        }
    }
}
