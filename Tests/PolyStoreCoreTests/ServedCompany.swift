import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport

/// A stack with people on a server, and a clock that the test moves.
@MainActor
final class ServedCompany {
    let server: SimulatedServer
    let stack: DataStack
    let ids: [ObjectID<Person>]
    let logger = RecordingLogger()
    private let time = Protected<UInt64>(1)

    init(_ count: Int = 3, mostSessions: Int? = nil, waitsForSessions: Bool = false, isShort: Bool = true) throws {
        let server = SimulatedServer(hasShortSnapshots: isShort, mostSessions: mostSessions, waitsForSessions: waitsForSessions)
        let stack = try DataStack(companySchema, logger: logger)
        stack.snapshotWarningAge = .seconds(100_000)
        stack.groupLimits.backOff.first = .zero
        stack.core.sessions.clock.exchange { [time] in time.withLock { $0 } }
        // The timer of the stack, which does not follow this clock, must not give sessions back meanwhile.
        stack.snapshotIdleTime = .seconds(1000)
        try stack.addStore(.simulatedServer(server))
        ids = try stack.performAndWait { transaction throws in
            let department = try transaction.create(Into<Department>())
            return try (0..<count).map { number in
                let person = try transaction.createPerson(number)
                person.department = department
                return person.objectID
            }
        }
        (self.server, self.stack) = (server, stack)
        server.resetCounts()
    }

    /// Lets time pass, and gives the sessions back that are idle.
    func pass(_ seconds: UInt64) {
        time.withLock { $0 += seconds * 1_000_000_000 }
        stack.core.sessions.giveBackIdle()
    }

    /// Changes the age of a person in a transaction, without a caller on the main actor, so that no view moves.
    func age(_ index: Int, _ age: Int) throws {
        let id = ids[index]
        try stack.performAndWait(isolation: nil) { try $0.edit(id).age = age }
    }

    func delete(_ index: Int) throws {
        let id = ids[index]
        try stack.performAndWait(isolation: nil) { try $0.delete(id) }
    }
}
