import Foundation
import GRDB
import PeerKit

/// P4: GRDB tuned by hand. SQL in cached statements for reads, deletions and imports; records for inserts and updates.
final class HandPeer: Peer<HandPerson> {
    override func fetchAll() throws {
        var all: [HandPerson] = []
        let pool = try pool()
        func total() -> UInt64 { all.reduce(0) { $0 &+ fullHash($1) } }
        try out.time("W2", PB.n, verify: total) {
            all = try pool.read { db in try HandPerson.fetchAll(db.cachedStatement(sql: "SELECT \(columns) FROM person")) }
            return sum(all)
        }
    }

    override func getByID() throws {
        let pool = try pool()
        func run(_ full: Bool) throws -> UInt64 {
            try pool.read { db in
                var r = SplitMix64(workload: 3)
                let s = try db.cachedStatement(sql: "SELECT \(columns) FROM person WHERE id=?")
                var q: UInt64 = 0
                for _ in 0..<PB.lookups {
                    let p = try HandPerson.fetchOne(s, arguments: [1 + Int64(r.next(below: UInt64(PB.n)))])!
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
                let s = try db.cachedStatement(sql: "SELECT \(columns) FROM person WHERE age>=? ORDER BY age, id LIMIT 100")
                var q: UInt64 = 0
                for _ in 0..<PB.ranges {
                    let a = try HandPerson.fetchAll(s, arguments: [Int(r.next(below: 100))])
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
                let s = try db.cachedStatement(sql: "SELECT count(*) FROM person WHERE score>500 AND isActive")
                var q: UInt64 = 0
                for _ in 0..<PB.scans { q += UInt64(try Int.fetchOne(s)!) }
                return q
            }
        }
    }

    override func group() throws {
        let pool = try pool()
        try out.time("W6", PB.scans, always: true) {
            try pool.read { db in
                let s = try db.cachedStatement(sql: "SELECT age, count(*), avg(score), min(score), max(score) FROM person GROUP BY age")
                var q: UInt64 = 0
                for _ in 0..<PB.scans {
                    let c = try Row.fetchCursor(s)
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
                let s = try db.cachedStatement(sql: "SELECT \(columns) FROM person WHERE departmentID=?")
                var ages: UInt64 = 0
                for d in try Department.fetchAll(db) {
                    for p in try HandPerson.fetchAll(s, arguments: [d.id]) {
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
                let s = try db.cachedStatement(sql: "SELECT \(columns) FROM person WHERE id=?")
                let age = ["age"]
                for i in 0..<PB.updates {
                    var p = try HandPerson.fetchOne(s, arguments: [perm[PB.n - 1 - i]])!
                    p.age += 1
                    try p.update(db, columns: age)
                }
            }
            return 0
        }
    }

    override func delete() throws {
        let perm = permutation()
        let pool = try pool()
        try out.time("W9", PB.deletes, verify: check) {
            try pool.write { db in
                let s = try db.cachedStatement(sql: "DELETE FROM person WHERE id=?")
                for i in 0..<PB.deletes { try s.execute(arguments: [perm[i]]) }
            }
            return 0
        }
    }

    override func importUnique() throws {
        let sources = importSources(permutation()).map(HandPerson.init)
        let pool = try pool()
        try out.time("W11", PB.imports, note: "a kept upsert statement", verify: content) {
            try pool.write { db in
                let s = try db.cachedStatement(
                    sql: """
                        INSERT INTO person(\(columns)) VALUES(?,?,?,?,?,?,?,?,?) ON CONFLICT(email) DO UPDATE SET \
                        age=excluded.age, score=excluded.score, notes=excluded.notes
                        """)
                for p in sources {
                    s.setUncheckedArguments(p.arguments)
                    try s.execute()
                }
            }
            return 0
        }
    }

    /// W11r: W11 without batches: a lookup for each row, then an update or an insert.
    override func importRowByRow() throws {
        let sources = importSources(permutation()).map(HandPerson.init)
        let pool = try pool()
        try out.time("W11r", PB.imports, note: "a kept SELECT by email, then update or insert", verify: content) {
            try pool.write { db in
                let s = try db.cachedStatement(sql: "SELECT \(columns) FROM person WHERE email=?")
                let changed = ["age", "score", "notes"]
                for source in sources {
                    if var p = try HandPerson.fetchOne(s, arguments: [source.email]) {
                        p.age = source.age
                        p.score = source.score
                        p.notes = source.notes
                        try p.update(db, columns: changed)
                    } else {
                        try source.insert(db)
                    }
                }
            }
            return 0
        }
    }

    override func list(_ db: Database) throws -> [HandPerson] {
        try HandPerson.fetchAll(
            db.cachedStatement(sql: "SELECT \(columns) FROM person WHERE age<? ORDER BY age, id"), arguments: [PB.listAge])
    }
}
