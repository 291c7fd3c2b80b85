import Dispatch
import PeerKit
import PolyStoreCore

/// The workloads on persons and departments, each in an extension.
struct ObjectWorkloads: Sendable {
    let store: BenchStore
    var out: Reporter { store.out }

    init(_ store: BenchStore) { self.store = store }

    /// W1: inserts all persons with three indexes in one transaction.
    func insert() throws {
        let people = RawPerson.make(from: 1, count: PB.n)
        let stack = try store.open()
        let departments = try BenchStore.makeDepartments(stack)
        try out.time("W1", PB.n) {
            try BenchStore.insert(people, departments, stack)
            return 0
        }
        store.keep(stack)
    }

    /// A checksum over every byte of every person.
    func checked(_ stack: DataStack) -> () throws -> UInt64 {
        { try stack.readAndWait { context in try context.fetchAll(From<Person>()).reduce(0) { $0 &+ fullHash($1) } } }
    }

    /// The same without ids, because PolyStore assigns those of new persons.
    func contentChecked(_ stack: DataStack) -> () throws -> UInt64 {
        { try stack.readAndWait { context in try context.fetchAll(From<Person>()).reduce(0) { $0 &+ contentHash($1) } } }
    }

    func checkEnd() throws { if PB.verify { out.state(try contentChecked(store.stack())()) } }

    func departments(_ stack: DataStack) throws -> [ObjectID<Department>] {
        try stack.readAndWait { try $0.fetchObjectIDs(From<Department>()) }
    }

    func people(_ stack: DataStack) throws -> [ObjectID<Person>] { try stack.readAndWait { try $0.fetchObjectIDs(From<Person>()) } }

    /// Runs an asynchronous closure and waits for it on the main thread.
    func wait(_ body: @escaping @Sendable () async throws -> Void) throws {
        let outcome = Outcome()
        Task.detached {
            do { try await body() } catch { outcome.error = error }
            outcome.done.signal()
        }
        outcome.done.wait()
        if let error = outcome.error { throw error }
    }

    private final class Outcome: @unchecked Sendable {  // written before the semaphore is signaled, and read afterwards
        let done = DispatchSemaphore(value: 0)
        var error: (any Error)?
    }
}
