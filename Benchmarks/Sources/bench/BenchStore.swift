import Foundation
import PeerKit
import PolyStoreBackend
import PolyStoreCore
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStoreMemory
import PolyStorePostgreSQL
import PolyStoreSQLite

/// The store that the workloads of one process share.
final class BenchStore: Sendable {
    let engine: String
    let folder: String
    let out: Reporter
    /// The open stack between workloads.
    private let held = Held()

    private final class Held: @unchecked Sendable {  // workloads run one after another
        var stack: DataStack?
    }

    init(engine: String, folder: String) {
        self.engine = engine
        self.folder = folder
        out = Reporter("PolyStore-" + engine)
    }

    var isInMemory: Bool { engine == "memory" }

    /// A Boolean value that indicates whether the store is in a database of a server.
    var isRemote: Bool { engine == "postgresql" }

    /// The URL of the store. `BENCH_OPTIONS` is appended to it: `?mapSize=1g`. The database of a server is that of `BENCH_POSTGRESQL`, a URL without options, and the name that of the schema.
    func configuration(_ name: String) throws -> StoreConfiguration {
        let environment = ProcessInfo.processInfo.environment
        let options = environment["BENCH_OPTIONS"] ?? ""
        let engines = StoreEngines([.sqlite, .lmdb, .levelDB, .memory, .postgreSQL])
        if isRemote { return try engines.configuration((environment["BENCH_POSTGRESQL"] ?? "postgresql:") + "?schema=" + name) }
        return try engines.configuration(isInMemory ? "memory:" : "\(engine):\(path(name))\(options)")
    }

    private func path(_ name: String) -> String { "\(folder)/\(name).\(engine)" }

    /// Removes the files that an earlier run has left.
    func remove(_ name: String) throws {
        // The schemas of a server are removed by the driver.
        if isRemote { return }
        for suffix in ["", "-wal", "-shm", "-lock"] where FileManager.default.fileExists(atPath: path(name) + suffix) {
            try FileManager.default.removeItem(atPath: path(name) + suffix)
        }
    }

    func open() throws -> DataStack {
        let stack = try DataStack(Schema("Peers", [Person.self, Department.self] + Fillers.models(beside: 2)))
        try stack.addStore(configuration("polystore"))
        return stack
    }

    /// Returns the stack with all persons: the open one, the one of an earlier process, or a new one, whose creation is not measured.
    func stack() throws -> DataStack {
        if let stack = held.stack { return stack }
        if try exists() {
            let stack = try open()
            held.stack = stack
            return stack
        }
        var stack: DataStack? = try open()
        if let stack { try Self.insert(RawPerson.make(from: 1, count: PB.n), Self.makeDepartments(stack), stack) }
        if !isInMemory {
            // As if another process had written it.
            stack = nil
            stack = try open()
        }
        held.stack = stack
        return try stack ?? open()
    }

    /// Whether an earlier process has created the store.
    private func exists() throws -> Bool {
        if isRemote { return try configuration("polystore").exists() }
        return !isInMemory && FileManager.default.fileExists(atPath: path("polystore"))
    }

    /// Keeps the stack after W1: an in-memory store stays open, other stores are closed and opened again when a workload needs them.
    func keep(_ stack: DataStack) { held.stack = isInMemory ? stack : nil }

    static func makeDepartments(_ stack: DataStack) throws -> [ObjectID<Department>] {
        try stack.performAndWait { transaction in
            try (1...PB.departments).map { number in
                let department = try transaction.create(Into<Department>())
                department.name = departmentName(Int64(number))
                return department.objectID
            }
        }
    }

    static func insert(_ people: [RawPerson], _ departments: [ObjectID<Department>], _ stack: DataStack) throws {
        try stack.performAndWait { transaction in
            let departments = try departments.map { try transaction.object(with: $0) }
            for raw in people {
                let person = try transaction.create(Into<Person>())
                person.fill(raw)
                person.department = departments[Int(raw.departmentID) - 1]
            }
        }
    }
}

extension Person {
    /// Assigns all properties except the department.
    func fill(_ raw: RawPerson) {
        name = raw.name
        email = raw.email
        age = raw.age
        score = raw.score
        isActive = raw.isActive
        createdAt = raw.createdAt
        notes = raw.notes
    }
}
