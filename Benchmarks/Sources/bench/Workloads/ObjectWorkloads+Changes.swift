import PeerKit
import PolyStoreCore

extension ObjectWorkloads {
    /// W7: reads, changes and saves a tenth of all persons in one transaction. The ids are passed together, so one query reads them all.
    func update() throws {
        let stack = try store.stack()
        let order = permutation()
        let ids = try people(stack)
        try out.time("W7", PB.updates, verify: checked(stack)) {
            try stack.performAndWait { transaction in
                for person in try transaction.fetchExisting((0..<PB.updates).map { ids[Int(order[PB.n - 1 - $0]) - 1] }) { person.age += 1 }
            }
            return 0
        }
    }

    /// W9: deletes a tenth of all persons in one transaction.
    func delete() throws {
        let stack = try store.stack()
        let order = permutation()
        let ids = try people(stack)
        try out.time("W9", PB.deletes, verify: checked(stack)) {
            try stack.performAndWait { transaction in try transaction.delete((0..<PB.deletes).map { ids[Int(order[$0]) - 1] }) }
            return 0
        }
    }

    /// W11: updates persons that exist by their email and inserts as many new ones, in one transaction. The lookups are made in batches and before
    /// any insertion, so that no lookup has to search pending changes.
    /// - Parameter name: W11s for a separate, unused store.
    func importUnique(_ name: String = "W11") throws {
        let stack = try store.stack()
        let sources = importSources(permutation())
        let departments = try departments(stack)
        try out.time(name, PB.imports, note: "look-ups in batches of 500, then updated or created", verify: contentChecked(stack)) {
            try stack.performAndWait { transaction in
                let departments = try transaction.fetchExisting(departments)
                var known: [String: Person] = [:]
                known.reserveCapacity(sources.count / 2)
                for start in stride(from: 0, to: sources.count, by: 500) {
                    let emails = sources[start..<min(start + 500, sources.count)].map(\.email)
                    for person in try transaction.fetchAll(From<Person>(), Where(emails ~= \.email)) { known[person.email] = person }
                }
                for source in sources {
                    if let person = known[source.email] {
                        person.age = source.age
                        person.score = source.score
                        person.notes = source.notes
                    } else {
                        let person = try transaction.create(Into<Person>())
                        person.fill(source)
                        person.department = departments[Int(source.departmentID) - 1]
                    }
                }
            }
            return 0
        }
    }

    /// W11i: the same work as W11s, with the importer.
    func importObjects() throws {
        let stack = try store.stack()
        let sources = importSources(permutation())
        let departments = try departments(stack)
        try out.time("W11i", PB.imports, note: "importUniqueObjects", verify: contentChecked(stack)) {
            try stack.performAndWait { transaction in
                let departments = try transaction.fetchExisting(departments)
                let sources = sources.lazy.map { PersonSource(raw: $0, department: departments[Int($0.departmentID) - 1]) }
                try transaction.importUniqueObjects(Into<Person>(), from: sources)
            }
            return 0
        }
    }
}
