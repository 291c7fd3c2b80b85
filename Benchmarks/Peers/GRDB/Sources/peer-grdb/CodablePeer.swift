import Foundation
import GRDB
import PeerKit

/// P4b: GRDB as in its introduction: Codable records and the query interface.
final class CodablePeer: Peer<CodablePerson> {
    override func fetchAll() throws {
        var all: [CodablePerson] = []
        let pool = try pool()
        func total() -> UInt64 { all.reduce(0) { $0 &+ fullHash($1) } }
        try out.time("W2", PB.n, verify: total) {
            all = try pool.read { db in try CodablePerson.fetchAll(db) }
            return sum(all)
        }
    }

    override func getByID() throws {
        let pool = try pool()
        func run(_ full: Bool) throws -> UInt64 {
            try pool.read { db in
                var r = SplitMix64(workload: 3)
                var q: UInt64 = 0
                for _ in 0..<PB.lookups {
                    let p = try CodablePerson.fetchOne(db, key: 1 + Int64(r.next(below: UInt64(PB.n))))!
                    q &+= full ? fullHash(p) : quickHash(p)
                }
                return q
            }
        }
        try out.time("W3", PB.lookups, verify: { try run(true) }, { try run(false) })
    }

    override func ranges() throws {
        let pool = try pool()
        func run(_ full: Bool) throws -> UInt64 {
            try pool.read { db in
                var r = SplitMix64(workload: 4)
                var q: UInt64 = 0
                for _ in 0..<PB.ranges {
                    let from = Int(r.next(below: 100))
                    let a = try CodablePerson.filter(Column("age") >= from).order(Column("age"), Column("id")).limit(PB.limit).fetchAll(db)
                    if full { for p in a { q = mix(q, fullHash(p)) } } else { q &+= sum(a) }
                }
                return q
            }
        }
        try out.time("W4", PB.ranges, verify: { try run(true) }, { try run(false) })
    }

    override func countByFilter() throws {
        let pool = try pool()
        try out.time("W5", PB.scans, always: true) {
            try pool.read { db in
                var q: UInt64 = 0
                for _ in 0..<PB.scans { q += UInt64(try CodablePerson.filter(Column("score") > 500 && Column("isActive")).fetchCount(db)) }
                return q
            }
        }
    }

    override func group() throws {
        let pool = try pool()
        try out.time("W6", PB.scans, always: true) {
            try pool.read { db in
                var q: UInt64 = 0
                let score = Column("score")
                for _ in 0..<PB.scans {
                    let request = CodablePerson.select(Column("age"), count(Column("id")), average(score), min(score), max(score))
                        .group(Column("age"))
                    let c = try Row.fetchCursor(db, request)
                    while let row = try c.next() { q = groupHash(q, age: row[0], n: row[1], avg: row[2], min: row[3], max: row[4]) }
                }
                return q
            }
        }
    }

    override func traverse() throws {
        let pool = try pool()
        try out.time("W10", PB.departments, always: true) {
            try pool.read { db in
                var ages: UInt64 = 0
                for d in try Department.fetchAll(db) {
                    for p in try d.request(for: Department.people).fetchAll(db) {
                        sink &+= quickHash(p)
                        ages += UInt64(p.age)
                    }
                }
                return ages
            }
        }
    }

    override func update() throws {
        let perm = permutation()
        let pool = try pool()
        try out.time("W7", PB.updates, verify: check) {
            try pool.write { db in
                for i in 0..<PB.updates {
                    var p = try CodablePerson.fetchOne(db, key: perm[PB.n - 1 - i])!
                    p.age += 1
                    try p.update(db)
                }
            }
            return 0
        }
    }

    override func delete() throws {
        let perm = permutation()
        let pool = try pool()
        try out.time("W9", PB.deletes, verify: check) {
            try pool.write { db in for i in 0..<PB.deletes { _ = try CodablePerson.deleteOne(db, key: perm[i]) } }
            return 0
        }
    }

    override func importUnique() throws { try importRowByRow("W11") }

    override func importRowByRow() throws { try importRowByRow("W11r") }

    private func importRowByRow(_ workload: String) throws {
        let sources = importSources(permutation()).map(CodablePerson.init)
        let pool = try pool()
        try out.time(workload, PB.imports, note: "filter(email).fetchOne, then update or insert", verify: content) {
            try pool.write { db in
                for s in sources {
                    if var p = try CodablePerson.filter(Column("email") == s.email).fetchOne(db) {
                        p.age = s.age
                        p.score = s.score
                        p.notes = s.notes
                        try p.update(db)
                    } else {
                        try s.insert(db)
                    }
                }
            }
            return 0
        }
    }

    override func list(_ db: Database) throws -> [CodablePerson] {
        try CodablePerson.filter(Column("age") < PB.listAge).order(Column("age"), Column("id")).fetchAll(db)
    }
}
