import PolyStoreBackend
import PolyStoreSearch

/// Executes the steps of a case on a new store and on the model, and compares all results.
final class OracleRunner {
    private let target: ConformanceTarget
    /// The schema that the store is open with.
    private var schema: ResolvedSchema
    private let location: ConformanceLocation
    private var backend: any StorageBackend
    private var model: OracleModel
    private var version: UInt64 = 0
    private var writer: (transaction: any WriteTransaction, model: OracleModel)?
    private var held: (transaction: any ReadTransaction, model: OracleModel, version: UInt64)?
    /// The next expected id of each entity, after commits and in the open transaction.
    private var nextIDs: [Int64]
    private var writerIDs: [Int64] = []
    private(set) var step = 0

    init(_ target: ConformanceTarget, _ schema: ResolvedSchema, _ location: ConformanceLocation) throws {
        self.target = target
        self.schema = schema
        self.location = location
        model = OracleModel(schema)
        nextIDs = schema.entities.map { _ in 1 }
        backend = try Self.open(target, schema, location)
    }

    private static func open(_ target: ConformanceTarget, _ schema: ResolvedSchema, _ location: ConformanceLocation) throws
        -> any StorageBackend
    {
        try target.store(location).durability(.relaxed).open(schema: schema, configurationName: nil, logger: SilentLogger())
    }

    func run(_ steps: [OracleStep]) throws {
        defer {
            leave()
            // All errors have been reported by the steps.
            try? backend.close()
        }
        for (index, next) in steps.enumerated() {
            step = index
            try take(next)
        }
        step = steps.count
        try takeHeld()
        writer?.transaction.rollback()
        writer = nil
        try withLatest { try checkEverything($0, model, "at the end") }
        if target.capabilities.contains(.verification) {
            let findings = try backend.verify()
            try expect(findings, equals: [], "verify")
        }
    }

    private func leave() {
        writer?.transaction.rollback()
        writer = nil
        held?.transaction.end()
        held = nil
    }

    private func take(_ next: OracleStep) throws {
        switch next {
        case .apply(let edits): try apply(edits)
        case .commit: try commit()
        case .rollback:
            writer?.transaction.rollback()
            writer = nil
        case .reserveIDs(let entity, let count): try reserve(entity, count)
        case .hold:
            try takeHeld()
            held = (try backend.beginRead(), model, version)
        case .reopen:
            guard target.capabilities.contains(.persistence) else { return }
            try reopen(schema)
            try withLatest { try checkEverything($0, model, "after opening again") }
        case .reopenWithFewerIndexes(let kept, let edits):
            guard target.capabilities.contains(.persistence) else { return }
            let all = schema
            try reopen(all.keepingSearchIndexes(kept))
            // A store that could not be opened again has no open schema.
            defer { schema = all }
            try withLatest { try checkEverything($0, model, "with fewer full-text indexes") }
            try apply(edits)
            try commit()
            try reopen(all)
            try withLatest { try checkEverything($0, model, "with all full-text indexes again") }
        case .ask(let reader, let query): try ask(reader, query)
        }
    }

    private func reopen(_ schema: ResolvedSchema) throws {
        leave()
        try backend.close()
        backend = try Self.open(target, schema, location)
        self.schema = schema
    }

    /// Ends the held reader after a last check of everything that it sees.
    private func takeHeld() throws {
        guard let held else { return }
        try checkEverything(held.transaction, held.model, "in a reader that is older")
        held.transaction.end()
        self.held = nil
    }

    // MARK: Writing

    private func begin() throws -> (transaction: any WriteTransaction, model: OracleModel) {
        if let writer { return writer }
        let begun = (try backend.beginWrite(), model)
        writer = begun
        writerIDs = nextIDs
        return begun
    }

    private func apply(_ edits: [OracleEdit]) throws {
        let (transaction, before) = try begin()
        let changes = before.completed(edits)
        var after = before
        let refusal = after.apply(changes)
        do {
            try transaction.apply(changes.changeSet(schema))
        } catch let error as StoreError {
            guard let refusal else { throw mismatch("apply", "no error", "\(error)") }
            guard refusal.codes.contains(error.code) else {
                throw mismatch("apply", "the error \(Self.list(refusal.codes))", "\(error)")
            }
            let blamed = refusal.objects.contains { schema.entities[$0.entity].name == error.entity && $0.id == error.rowID }
            guard blamed else {
                let objects = refusal.objects.map { "E\($0.entity) \($0.id)" }.sorted().joined(separator: " or ")
                let found = "\(error.entity ?? "no entity") \(error.rowID.map(String.init) ?? "without id"): \(error)"
                throw mismatch("the object that an error names", objects, found)
            }
            return try checkEverything(transaction, before, "after a change set that was refused")
        }
        if let refusal { throw mismatch("apply", "the error \(Self.list(refusal.codes))", "no error") }
        writer = (transaction, after)
    }

    private static func list(_ codes: Set<StoreError.Code>) -> String { codes.map(\.description).sorted().joined(separator: " or ") }

    private func commit() throws {
        guard let (transaction, after) = writer else { return }
        let new = try transaction.commit(.relaxed)
        writer = nil
        guard new > version else { throw mismatch("the version of a commit", "more than \(version)", "\(new)") }
        (version, model, nextIDs) = (new, after, writerIDs)
    }

    private func reserve(_ entity: Int, _ count: Int) throws {
        let first = try begin().transaction.reserveIDs(schema.entities[entity], count: count)
        guard first >= writerIDs[entity] else { throw mismatch("ids of E\(entity)", "\(writerIDs[entity]) or later", "\(first)") }
        writerIDs[entity] = first + Int64(count)
    }

    // MARK: Reading

    private func withLatest(_ body: (any ReadTransaction) throws -> Void) throws {
        let reader = try backend.beginRead()
        defer { reader.end() }
        try expect(reader.version, equals: version, "the version of a new reader")
        try body(reader)
    }

    private func ask(_ transaction: OracleTransaction, _ query: OracleQuery) throws {
        if transaction == .writer, let writer { return try check(query, writer.transaction, writer.model, "\(query), in the writer") }
        if transaction == .held, let held {
            try expect(held.transaction.version, equals: held.version, "the version of an older reader")
            return try check(query, held.transaction, held.model, "\(query), in an older reader")
        }
        try withLatest { try check(query, $0, model, "\(query)") }
    }

    /// Checks every object and every link.
    private func checkEverything(_ reader: any ReadTransaction, _ model: OracleModel, _ when: String) throws {
        for entity in schema.entities {
            try check(.fetch(FetchRequest(entity)), reader, model, "all of \(entity.name) \(when)")
            try checkSearches(entity, reader, model, when)
            let ids = model.ids(entity.index)
            for relationship in entity.relationships {
                try check(.related(relationship, ids), reader, model, "\(entity.name).\(relationship.name) of all \(when)")
            }
        }
    }

    /// Checks a few searches by every full-text index of an entity.
    private func checkSearches(_ entity: Entity, _ reader: any ReadTransaction, _ model: OracleModel, _ when: String) throws {
        for index in entity.searchIndexes {
            for text in ["w1 OR the", "\"w1 w2\"", "w3* -fox"] {
                let condition = try SearchCondition(Search(text), in: index, of: entity)
                try check(.searched(condition), reader, model, "\(condition) in \(entity.name) \(when)")
            }
        }
    }

    func mismatch(_ what: String, _ expected: String, _ found: String) -> OracleMismatch {
        OracleMismatch(step: step, what: what, expected: expected, found: found)
    }

    func expect<T: Equatable>(_ found: T, equals expected: T, _ what: @autoclosure () -> String) throws {
        if found != expected { throw mismatch(what(), "\(expected)", "\(found)") }
    }
}
