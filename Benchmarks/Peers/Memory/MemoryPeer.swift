import Foundation
import PeerKit

/// P7: the limit of an in-memory store in Swift. Dictionaries of class objects by id and email, sorted arrays as the indexes by age and
/// department. Fetches return the living objects: nothing is copied, except in W2c.
@main
final class MemoryPeer {
    private let out = Reporter("P7")
    private var store = Store()

    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 2 else { preconditionFailure("usage: peer-memory WORKLOAD,...|load|read|mutate|extra") }
        let peer = MemoryPeer()
        for name in workloads(arguments[1], extra: []) { try peer.run(name) }
    }

    private func run(_ name: String) throws {
        if name != "W1", store.people.isEmpty { store.insertBatch(RawPerson.make(from: 1, count: PB.n)) }
        switch name {
        case "W1": try insert()
        case "W2":
            try fetchAll()
            try fetchFresh()
        case "W2c": try fetchFresh()
        case "W3": try getByID()
        case "W4": try ranges()
        case "W5": try countByFilter()
        case "W6": try group()
        case "W7": try update()
        case "W8":
            // Reaches the same end state as the other programs, without a measurement.
            for p in RawPerson.make(from: PB.durableID, count: PB.durable) { store.insert(p) }
        case "W8b": try commitRelaxed()
        case "W9": try delete()
        case "W10": try traverse()
        case "W11": try importUnique()
        case "W13": try keepListCurrent()
        case "end": if PB.verify { out.state(content()) }
        default: preconditionFailure("no workload \(name)")
        }
    }

    private func total() -> UInt64 { store.people.values.reduce(0) { $0 &+ fullHash($1) } }
    private func content() -> UInt64 { store.people.values.reduce(0) { $0 &+ contentHash($1) } }

    private func insert() throws {
        let raw = RawPerson.make(from: 1, count: PB.n)
        try out.time("W1", PB.n, note: "no durability") {
            store.insertBatch(raw)
            return 0
        }
    }

    private func fetchAll() throws {
        var all: [Person] = []
        func total() -> UInt64 { all.reduce(0) { $0 &+ fullHash($1) } }
        try out.time("W2", PB.n, note: "live objects, not copied", verify: total) {
            let people = store.people
            all.reserveCapacity(people.count)
            for id in store.order { all.append(people[id]!) }
            return all.reduce(0) { $0 &+ quickHash($1) }
        }
    }

    private func fetchFresh() throws {
        var all: [Person] = []
        try out.time("W2c", PB.n, note: "a fresh object for each row") {
            let people = store.people
            all.reserveCapacity(people.count)
            for id in store.order { all.append(Person(people[id]!)) }
            return all.reduce(0) { $0 &+ quickHash($1) }
        }
    }

    private func getByID() throws {
        func run(_ full: Bool) -> UInt64 {
            var r = SplitMix64(workload: 3)
            var q: UInt64 = 0
            let people = store.people
            for _ in 0..<PB.lookups {
                let p = people[1 + Int64(r.next(below: UInt64(PB.n)))]!
                q &+= full ? fullHash(p) : quickHash(p)
            }
            return q
        }
        try out.time("W3", PB.lookups, verify: { run(true) }, { run(false) })
    }

    private func ranges() throws {
        func run(_ full: Bool) -> UInt64 {
            var r = SplitMix64(workload: 4)
            var q: UInt64 = 0
            let people = store.people
            let index = store.byAge
            for _ in 0..<PB.ranges {
                let i = index.lowerBound(Entry(value: Int64(r.next(below: 100)), id: .min))
                let a = index.entries[i..<min(i + PB.limit, index.entries.count)].map { people[$0.id]! }
                for p in a { q = full ? mix(q, fullHash(p)) : q &+ quickHash(p) }
            }
            return q
        }
        try out.time("W4", PB.ranges, verify: { run(true) }, { run(false) })
    }

    private func countByFilter() throws {
        try out.time("W5", PB.scans, always: true) {
            var q: UInt64 = 0
            for _ in 0..<PB.scans { for p in store.people.values where p.score > 500 && p.isActive { q += 1 } }
            return q
        }
    }

    private func group() throws {
        try out.time("W6", PB.scans, always: true) {
            var q: UInt64 = 0
            let people = store.people
            for _ in 0..<PB.scans {
                var g = [(n: Int, sum: Double, min: Double, max: Double)](repeating: (0, 0, .infinity, -.infinity), count: 128)
                for id in store.order {
                    let p = people[id]!
                    g[p.age].n += 1
                    g[p.age].sum += p.score
                    g[p.age].min = min(g[p.age].min, p.score)
                    g[p.age].max = max(g[p.age].max, p.score)
                }
                for (age, x) in g.enumerated() where x.n > 0 {
                    q = groupHash(q, age: age, n: x.n, avg: x.sum / Double(x.n), min: x.min, max: x.max)
                }
            }
            return q
        }
    }

    private func traverse() throws {
        try out.time("W10", PB.departments, always: true) {
            var ages: UInt64 = 0
            let people = store.people
            let index = store.byDepartment
            for d in 1...Int64(PB.departments) {
                var i = index.lowerBound(Entry(value: d, id: .min))
                while i < index.entries.count, index.entries[i].value == d {
                    let p = people[index.entries[i].id]!
                    sink &+= quickHash(p)
                    ages += UInt64(p.age)
                    i += 1
                }
            }
            return ages
        }
    }
}

extension MemoryPeer {
    private func update() throws {
        let perm = permutation()
        try out.time("W7", PB.updates, verify: total) {
            var gone: [Entry] = []
            var new: [Entry] = []
            for i in 0..<PB.updates {
                let p = store.people[perm[PB.n - 1 - i]]!
                gone.append(Entry(value: Int64(p.age), id: p.id))
                p.age += 1
                new.append(Entry(value: Int64(p.age), id: p.id))
            }
            store.byAge.apply(gone: gone, new: new)
            return 0
        }
    }

    private func delete() throws {
        let perm = permutation()
        try out.time("W9", PB.deletes, verify: total) {
            var ages: [Entry] = []
            var departments: [Entry] = []
            for i in 0..<PB.deletes {
                let p = store.people.removeValue(forKey: perm[i])!
                store.byEmail[p.email] = nil
                ages.append(Entry(value: Int64(p.age), id: p.id))
                departments.append(Entry(value: p.departmentID, id: p.id))
            }
            store.byAge.apply(gone: ages, new: [])
            store.byDepartment.apply(gone: departments, new: [])
            let people = store.people
            store.order.removeAll { people[$0] == nil }
            return 0
        }
    }

    private func importUnique() throws {
        let sources = importSources(permutation())
        try out.time("W11", PB.imports, verify: content) {
            var gone: [Entry] = []
            var new: [Entry] = []
            var fresh: [RawPerson] = []
            for s in sources {
                guard let p = store.byEmail[s.email] else {
                    fresh.append(s)
                    continue
                }
                if p.age != s.age {
                    gone.append(Entry(value: Int64(p.age), id: p.id))
                    new.append(Entry(value: Int64(s.age), id: p.id))
                }
                p.age = s.age
                p.score = s.score
                p.notes = s.notes
            }
            store.byAge.apply(gone: gone, new: new)
            store.insertBatch(fresh)
            return 0
        }
    }

    private func commitRelaxed() throws {
        let people = RawPerson.make(from: PB.relaxedID, count: PB.relaxed)
        try out.time("W8b", PB.relaxed, note: "no durability at all; shifts sorted arrays") {
            for p in people { store.insert(p) }
            return 0
        }
    }

    private func keepListCurrent() throws {
        let changes = listChanges(permutation())
        func fetch() -> [Person] {
            let people = store.people
            let index = store.byAge
            return index.entries[..<index.lowerBound(Entry(value: Int64(PB.listAge), id: .min))].map { people[$0.id]! }
        }
        var hash = listHash(0, fetch())
        try out.time("W13", changes.count, note: "live objects, not copied", always: true) {
            for change in changes {
                store.setAge(store.people[change.id]!, change.age)
                hash = listHash(hash, fetch())
            }
            return hash
        }
    }
}
