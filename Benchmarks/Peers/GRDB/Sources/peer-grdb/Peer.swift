import Dispatch
import Foundation
import GRDB
import PeerKit

/// The common part of both programs: the store, and the workloads with equal code.
class Peer<P: PersonRecord> {
    let out: Reporter
    let path: String
    let started: Stamp
    private var held: DatabasePool?

    init(_ name: String, _ path: String, _ started: Stamp) {
        out = Reporter(name)
        self.path = path
        self.started = started
    }

    func run(_ name: String) async throws {
        switch name {
        case "W1": try insert()
        case "W2": try fetchAll()
        case "W3": try getByID()
        case "W4": try ranges()
        case "W5": try countByFilter()
        case "W6": try group()
        case "W7": try update()
        case "W8": try commit("W8", PB.durableID, PB.durable, synchronous: "FULL")
        case "W8b": try commit("W8b", PB.relaxedID, PB.relaxed, synchronous: "NORMAL")
        case "W8c": try await commitConcurrently()
        case "W9": try delete()
        case "W10": try traverse()
        case "W11": try importUnique()
        case "W11r": try importRowByRow()
        case "W12": try openAndFetch()
        case "W13": try keepListCurrent()
        case "W18": try observeList()
        case "end": if PB.verify { out.state(try content()) }
        default: preconditionFailure("no workload \(name)")
        }
    }

    // MARK: Differences between the two

    func fetchAll() throws {}
    func getByID() throws {}
    func ranges() throws {}
    func countByFilter() throws {}
    func group() throws {}
    func update() throws {}
    func delete() throws {}
    func traverse() throws {}
    func importUnique() throws {}
    func importRowByRow() throws {}
    func list(_ db: Database) throws -> [P] { [] }

    // MARK: The store

    func pool() throws -> DatabasePool {
        if let held { return held }
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false  // as P1
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size=-65536") }
        let pool = try DatabasePool(path: path, configuration: configuration)
        try synchronous("FULL", pool)  // the pool has just set NORMAL
        held = pool
        return pool
    }

    private func synchronous(_ mode: String, _ pool: DatabasePool) throws {
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous=\(mode)") }
    }

    func check() throws -> UInt64 { try pool().read { db in try P.fetchAll(db).reduce(0) { $0 &+ fullHash($1) } } }
    func content() throws -> UInt64 { try pool().read { db in try P.fetchAll(db).reduce(0) { $0 &+ contentHash($1) } } }

    // MARK: Common workloads

    private func insert() throws {
        let people = RawPerson.make(from: 1, count: PB.n).map(P.init)
        let pool = try pool()
        try pool.write {
            try $0.execute(
                sql: """
                    CREATE TABLE department(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
                    CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, age INTEGER NOT NULL,
                     score REAL NOT NULL, isActive INTEGER NOT NULL, createdAt REAL NOT NULL, notes TEXT NOT NULL,
                     departmentID INTEGER NOT NULL);
                    CREATE UNIQUE INDEX person_email ON person(email);
                    CREATE INDEX person_age ON person(age);
                    CREATE INDEX person_dept ON person(departmentID);
                    """)
        }
        try out.time("W1", PB.n) {
            try pool.write { db in for p in people { try p.insert(db) } }
            return 0
        }
        try pool.write { db in for i in 1...Int64(PB.departments) { try Department(id: i, name: departmentName(i)).insert(db) } }
        try pool.close()
        held = nil
    }

    private func commit(_ name: String, _ first: Int64, _ count: Int, synchronous mode: String) throws {
        let people = RawPerson.make(from: first, count: count).map(P.init)
        let pool = try pool()
        try synchronous(mode, pool)
        try out.time(name, count, note: "WAL synchronous=\(mode)") {
            for p in people { try pool.write { try p.insert($0) } }
            return 0
        }
        try synchronous("FULL", pool)
    }

    private func commitConcurrently() async throws {
        let people = RawPerson.make(from: PB.concurrentID, count: PB.concurrent).map(P.init)
        let pool = try pool()
        let before = try await pool.read { try P.fetchCount($0) }
        let start = Stamp()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for caller in 0..<PB.callers {
                group.addTask {
                    for number in stride(from: caller, to: people.count, by: PB.callers) {
                        try await pool.write { try people[number].insert($0) }
                    }
                }
            }
            try await group.waitForAll()
        }
        let end = Stamp()
        let after = try await pool.read { try P.fetchCount($0) }
        out.emit("W8c", people.count, start, end, check: UInt64(after - before))
    }

    private func openAndFetch() throws {
        let p = try pool().read { try P.order(Column("id")).limit(1).fetchOne($0) }
        out.emit("W12", 1, started, Stamp(), check: p.map { fullHash($0) } ?? 0)
    }

    private func keepListCurrent() throws {
        let changes = listChanges(permutation())
        let pool = try pool()
        try synchronous("NORMAL", pool)
        var hash = listHash(0, try pool.read { try list($0) })
        try out.time("W13", changes.count, note: "fetched again", always: true) {
            for change in changes {
                try pool.write { db in
                    guard var p = try P.fetchOne(db, key: change.id) else { return }
                    p.age = change.age
                    try p.update(db, columns: ["age"])
                }
                hash = listHash(hash, try pool.read { try list($0) })
            }
            return hash
        }
        try synchronous("FULL", pool)
    }

    /// W18: the cost of a commit with an observed list of all persons by age and name; `… alone` without one. Waits for each value.
    private func observeList() throws {
        let changes = 20
        let pool = try pool()
        try synchronous("NORMAL", pool)
        var random = SplitMix64(workload: 18)
        let chosen = (0..<changes).map { _ in Int64(random.next(below: UInt64(PB.n))) + 1 }
        func change(_ name: String, then wait: () -> Void) throws {
            try out.time("W18 update \(name)", changes) {
                for id in chosen {
                    try pool.write { db in
                        guard var p = try P.fetchOne(db, key: id) else { return }
                        p.score += 1
                        try p.update(db, columns: ["score"])
                    }
                    wait()
                }
                return 0
            }
        }
        try change("alone") {}
        let arrived = DispatchSemaphore(value: 0)
        let observation = ValueObservation.tracking { db in try P.order(Column("age"), Column("name")).fetchAll(db) }
        let observer = observation.start(
            in: pool, scheduling: .async(onQueue: DispatchQueue(label: "observer")), onError: { _ in arrived.signal() },
            onChange: { _ in arrived.signal() })
        arrived.wait()
        try change("monitored") { arrived.wait() }
        observer.cancel()
        try synchronous("FULL", pool)
    }
}
