import Foundation
import PolyStore
import TestSupport
import Testing

enum Mood: String, Codable, Sendable { case calm, busy }

struct Address: Codable, Sendable, Equatable {
    var street = ""
    var number = 0
}

@Model
final class Worker {
    @Attribute(.indexed) var name: String = ""
    var age: Int = 0
    var city: String?
    var mood: Mood = Mood.calm
    var lastMood: Mood?
    var tags: [String] = []
    var home: Address = Address()
    var holiday: Address?
    var picture: Data?
    @Relationship(inverse: "workers") var team: Team?
    @Relationship(inverse: "friends") var friends: Set<Worker>
    var label: String { "\(name) (\(age))" }
}

@Model
final class Team {
    var title: String = ""
    var budget: Double = 0
    @Relationship var workers: Set<Worker>
}

let observeSchema = Schema("Observe", Worker.self, Team.self)

/// A stack with one store of a backend.
final class Workplace: Sendable {
    let stack: DataStack
    let folder: Folder

    init(_ backend: Backend) throws {
        folder = try Folder()
        stack = try DataStack(observeSchema)
        stack.snapshotWarningAge = .seconds(100_000)
        try stack.addStore(backend.store(in: folder))
    }

    /// Inserts workers with the given names and ages.
    @discardableResult
    func insert(_ workers: (String, Int)..., isolation: isolated (any Actor)? = #isolation) throws -> [ObjectID<Worker>] {
        try stack.performAndWait { transaction throws in
            try workers.map { name, age in
                let worker = try transaction.create(Into<Worker>())
                (worker.name, worker.age) = (name, age)
                return worker.objectID
            }
        }
    }

    func edit(
        _ id: ObjectID<Worker>, isolation: isolated (any Actor)? = #isolation, _ change: @Sendable (Worker) -> Void
    ) throws {
        try stack.performAndWait { transaction throws in change(try transaction.edit(id)) }
    }

    func delete(_ ids: ObjectID<Worker>..., isolation: isolated (any Actor)? = #isolation) throws {
        try stack.performAndWait { transaction throws in try transaction.delete(ids) }
    }
}
