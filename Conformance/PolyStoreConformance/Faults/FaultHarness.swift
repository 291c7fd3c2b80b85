import PolyStoreBackend
import PolyStoreKeyValue
import PolyStoreSearch

/// Runs a store over a ``FaultyEngine`` whose N-th operation fails, for many N. Every failing call must throw a `StoreError`, every other call must return the
/// correct result, and the store must finally contain every acknowledged commit and no rejected one.
public struct FaultHarness: Sendable {
    private let target: EngineTarget
    private static let commits = 6

    /// Creates a harness for an engine.
    public init(_ target: EngineTarget) { self.target = target }

    /// Runs the harness.
    /// - Parameters:
    ///   - step: The distance between the operations that fail, each in a separate store.
    ///   - isForEver: Whether every later operation fails too, until the store is closed.
    public func run(every step: Int, isForEver: Bool = false) async throws -> FaultReport {
        var report = FaultReport()
        var number = 1
        while true {
            let run = EngineRun(target, "faults.at-\(number)", try ScratchFolder())
            defer { try? run.cleanUp() }
            let effects: [FaultPlan.Effect] = [
                .fail(StoreError(.io, "A fault was injected.")),
                .failAfterwards(StoreError(.io, "A fault was injected after the operation.")),
            ]
            let plan = FaultPlan()
            plan.add(effects[number / step % 2], to: nil, number: number, isForEver: isForEver)
            let play = FaultPlay(run, plan, "operation \(number)\(isForEver ? " and every later one" : "")")
            try play.perform(commits: Self.commits)
            report.add(play)
            if plan.total < number { return report }
            number += step
        }
    }
}

/// The results of the injected faults.
public struct FaultReport: Sendable, CustomStringConvertible {
    /// The number of injected faults.
    public private(set) var faults = 0
    /// The number of calls that threw an error.
    public private(set) var errors = 0
    /// The number of acknowledged commits.
    public private(set) var acknowledged = 0
    /// Wrong results without an error, lost or partial commits, and stores that cannot be opened, each with the operation that failed.
    public private(set) var wrong: [String] = []

    fileprivate mutating func add(_ play: FaultPlay) {
        faults += 1
        errors += play.errors
        acknowledged += play.acknowledged
        wrong += play.wrong
    }

    /// The counts in one line.
    public var description: String { "\(faults) faults: \(errors) errors, \(acknowledged) commits acknowledged, \(wrong.count) wrong" }
}

/// One run with one store and one fault.
private final class FaultPlay {
    private let run: EngineRun
    private let plan: FaultPlan
    private let what: String
    private(set) var errors = 0
    private(set) var acknowledged = 0
    private(set) var wrong: [String] = []
    /// The commits that the store must contain, and those whose outcome is unknown after an error.
    private var certain: Set<Int64> = []
    private var possible: Set<Int64> = []

    init(_ run: EngineRun, _ plan: FaultPlan, _ what: String) {
        self.run = run
        self.plan = plan
        self.what = what
    }

    func perform(commits: Int) throws {
        let schema = try ResolvedSchema(DamageSample.schema)
        if let store = try attempt({ try open(schema, isFaulty: true) }) {
            for number in 1...Int64(commits) {
                try commit(number, store, schema)
                try look(store, schema)
            }
            _ = try attempt { try store.verify() }
            plan.removeAll()
            // Without a fault every result must be correct.
            try look(store, schema, mayFail: false)
            try store.close()
        }
        plan.removeAll()
        guard run.target.features.contains(.persistence) else { return }
        do {
            let store = try open(schema, isFaulty: false)
            try look(store, schema, mayFail: false)
            let findings = try store.verify()
            if !findings.isEmpty { wrong.append("\(what): \(findings)") }
            try store.close()
        } catch let error as StoreError { wrong.append("\(what): cannot be opened afterwards: \(error)") }
    }

    private func open(_ schema: ResolvedSchema, isFaulty: Bool) throws -> KeyValueBackend {
        let handle = try run.target.open(run.location("engine"))
        let request = OpenRequest(schema: schema, logger: SilentLogger())
        return try KeyValueBackend(isFaulty ? EngineHandle(private: FaultyEngine(handle, plan)) : handle, request)
    }

    private func attempt<T>(_ body: () throws -> T) throws -> T? {
        do { return try body() } catch is StoreError {
            errors += 1
            return nil
        }
    }

    /// Commits two objects and a link between them.
    private func commit(_ number: Int64, _ store: KeyValueBackend, _ schema: ResolvedSchema) throws {
        let item = schema.entities[0]
        var isTried = false
        let version: Void? = try attempt {
            let transaction = try store.beginWrite()
            defer { transaction.rollback() }
            let changes = ChangeSet(schema)
            for id in [number * 2 - 1, number * 2] { try changes.insert(item, rowID: id, Self.row(id)) }
            try transaction.apply(changes)
            isTried = true
            _ = try transaction.commit(.full)
        }
        if version != nil {
            certain.insert(number)
            acknowledged += 1
        } else if isTried {
            possible.insert(number)
        }
    }

    private static func row(_ id: Int64) -> [Value] {
        [.integer(id / 2), .text("item \(id)"), .blob([UInt8](repeating: UInt8(id), count: 300))]
    }

    private func look(_ store: KeyValueBackend, _ schema: ResolvedSchema, mayFail: Bool = true) throws {
        let item = schema.entities[0]
        guard let name = item.field(named: "name"), let number = item.field(named: "number") else { return }
        let search = try SearchCondition(Search("item"), in: item.searchIndexes[0], of: item)
        let requests = [
            FetchRequest(item, predicate: .search(search)),
            FetchRequest(item, predicate: .search(search), sortKeys: [SortKey(.score(search), ascending: false)], limit: 100),
            FetchRequest(item), FetchRequest(item, sortKeys: [SortKey(FieldReference(name), ascending: false)]),
            FetchRequest(item, predicate: .compare(FieldReference(number), .greaterOrEqual, .integer(0))),
        ]
        for request in requests {
            do {
                let reader = try store.beginRead()
                defer { reader.end() }
                let cursor = try reader.fetch(request)
                defer { cursor.close() }
                var rows: [Int64: [Value]] = [:]
                while try cursor.next() { rows[cursor.rowID] = item.fields.map { cursor.record.value($0) } }
                judge(rows)
                let count = try reader.count(request)
                if count != rows.count { wrong.append("\(what): a count of \(count) with \(rows.count) objects") }
            } catch let error as StoreError {
                errors += 1
                if !mayFail { wrong.append("\(what): an error when nothing fails any more: \(error)") }
            }
        }
    }

    private func judge(_ rows: [Int64: [Value]]) {
        for (id, row) in rows where Array(row.prefix(3)) != Self.row(id) { wrong.append("\(what): object \(id) has other values") }
        let commits = Dictionary(grouping: rows.keys) { ($0 + 1) / 2 }
        for (number, ids) in commits {
            if ids.count != 2 { wrong.append("\(what): commit \(number) is incomplete") }
            if !certain.contains(number), !possible.contains(number) { wrong.append("\(what): commit \(number) was refused, and is there") }
        }
        for number in certain where commits[number] == nil { wrong.append("\(what): commit \(number) was acknowledged, and is lost") }
    }
}
