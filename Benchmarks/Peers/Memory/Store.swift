import Foundation
import PeerKit

final class Person: PersonFields {
    let id: Int64
    var name: String
    var email: String
    var age: Int
    var score: Double
    var isActive: Bool
    var createdAt: Date
    var notes: String
    var departmentID: Int64

    /// An object with the values of another, or of the data set.
    init<P: PersonFields>(_ p: P) {
        id = p.id
        name = p.name
        email = p.email
        age = p.age
        score = p.score
        isActive = p.isActive
        createdAt = p.createdAt
        notes = p.notes
        departmentID = p.departmentID
    }
}

struct Entry: Comparable {
    var value: Int64
    var id: Int64

    @inline(__always)
    static func < (a: Entry, b: Entry) -> Bool { a.value != b.value ? a.value < b.value : a.id < b.id }
}

/// Sorted entries in one array.
struct SortedIndex {
    var entries: [Entry] = []

    @inline(__always)
    func lowerBound(_ e: Entry) -> Int {
        var lo = 0
        var hi = entries.count
        while lo < hi {
            let m = (lo + hi) >> 1
            if entries[m] < e { lo = m + 1 } else { hi = m }
        }
        return lo
    }

    mutating func insert(_ e: Entry) { entries.insert(e, at: lowerBound(e)) }
    mutating func remove(_ e: Entry) { entries.remove(at: lowerBound(e)) }

    /// Removes `gone` and merges `new` in one pass.
    mutating func apply(gone: [Entry], new: [Entry]) {
        let gone = gone.sorted()
        let new = new.sorted()
        var out: [Entry] = []
        out.reserveCapacity(entries.count + new.count - gone.count)
        var g = 0
        var n = 0
        for e in entries {
            if g < gone.count, gone[g] == e {
                g += 1
                continue
            }
            while n < new.count, new[n] < e {
                out.append(new[n])
                n += 1
            }
            out.append(e)
        }
        out.append(contentsOf: new[n...])
        entries = out
    }
}

struct Store {
    var people: [Int64: Person] = [:]
    var byEmail: [String: Person] = [:]
    var byAge = SortedIndex()
    var byDepartment = SortedIndex()
    /// All ids, ascending.
    var order: [Int64] = []

    /// Indexes merged once.
    mutating func insertBatch(_ raw: [RawPerson]) {
        people.reserveCapacity(people.count + raw.count)
        byEmail.reserveCapacity(byEmail.count + raw.count)
        var ages: [Entry] = []
        var departments: [Entry] = []
        ages.reserveCapacity(raw.count)
        departments.reserveCapacity(raw.count)
        for r in raw {
            let p = add(r)
            ages.append(Entry(value: Int64(p.age), id: p.id))
            departments.append(Entry(value: p.departmentID, id: p.id))
        }
        byAge.apply(gone: [], new: ages)
        byDepartment.apply(gone: [], new: departments)
    }

    /// Shifts the arrays.
    mutating func insert(_ r: RawPerson) {
        let p = add(r)
        byAge.insert(Entry(value: Int64(p.age), id: p.id))
        byDepartment.insert(Entry(value: p.departmentID, id: p.id))
    }

    private mutating func add(_ r: RawPerson) -> Person {
        let p = Person(r)
        precondition(people.updateValue(p, forKey: p.id) == nil)
        precondition(byEmail.updateValue(p, forKey: p.email) == nil)
        order.append(p.id)
        return p
    }

    mutating func setAge(_ p: Person, _ age: Int) {
        guard p.age != age else { return }
        byAge.remove(Entry(value: Int64(p.age), id: p.id))
        p.age = age
        byAge.insert(Entry(value: Int64(age), id: p.id))
    }
}
