import Foundation
import PeerKit
import PolyStoreCore

/// Many callers at once, and a transaction that looks for what it has just made.
struct ChangeWorkloads {
    let stack: DataStack
    let out: Reporter

    /// W8. One caller, a durable transaction of one object each.
    func durable() throws {
        let people = RawPerson.make(from: PB.durableID, count: PB.durable)
        try out.time("W8", PB.durable) {
            for raw in people { try stack.performAndWait { transaction in fill(try transaction.create(Into<Person>()), raw) } }
            return 0
        }
    }

    /// W8c. So many tasks at once, a durable transaction of one object each, again and again.
    func concurrent(tasks: Int = 64, each: Int = 50) async throws {
        let people = RawPerson.make(from: PB.durableID, count: tasks * each)
        let (start, stack) = (Stamp(), stack)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<tasks {
                group.addTask {
                    for number in 0..<each {
                        let raw = people[task * each + number]
                        try await stack.perform { transaction in fill(try transaction.create(Into<Person>()), raw) }
                    }
                }
            }
            try await group.waitForAll()
        }
        out.emit("W8c", tasks * each, start, Stamp())
    }

    /// W13. Finds an object by its unique attribute and changes it, or creates it: twice each, all in one transaction.
    func findOrCreate(_ count: Int) throws {
        let people = RawPerson.make(from: 1, count: count)
        try out.time("W13", 2 * count) {
            try stack.performAndWait { transaction in
                for raw in [people, people].joined() {
                    if let person = try transaction.fetchOne(From<Person>(), Where(\.email == raw.email)) {
                        person.age += 1
                    } else {
                        fill(try transaction.create(Into<Person>()), raw)
                    }
                }
            }
            return 0
        }
    }
}

func fill(_ person: Person, _ raw: RawPerson) {
    person.name = raw.name
    person.email = raw.email
    person.age = raw.age
    person.score = raw.score
    person.isActive = raw.isActive
    person.createdAt = raw.createdAt
    person.notes = raw.notes
}
