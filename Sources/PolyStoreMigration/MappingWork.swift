import Foundation
import PolyStoreBackend
import PolyStoreKernel
import PolyStoreQuery

/// The part of a migration step that reads and writes single objects.
///
/// It runs in phases, each over one entity or link table in ascending order of row ids, and in batches. The position of each batch is saved with it.
final class MappingWork {
    /// The position at which a later attempt resumes.
    struct Position: Codable {
        var phase = 0
        /// The last migrated row id of the current phase.
        var rowID = Int64.min
        /// The offsets to add to row ids, by `source:target` entity index.
        var offsets: [String: Int64] = [:]
        var rewritten = 0
    }

    private enum Phase {
        case before
        case route(Int)
        case links(Int)
        case positions(Int)
        case repair(Int)
        case after
        case validate(Int)
    }

    struct Key: Hashable {
        let entity: Int
        let id: Int64
    }

    let plan: MigrationPlan
    let migration: any StoreMigration
    /// Called with the number of objects that were read, and the current activity; throws to end the migration.
    let progress: (Int, String) throws -> Void
    var source: any ReadTransaction { migration.source }
    var position = Position()
    /// The new objects that the mapping created or read in this batch.
    var pending: [Key: NewObject] = [:]
    /// The pending objects with unwritten changes. A lookup writes only these, so its cost does not depend on the size of the batch.
    var unwritten: [NewObject] = []
    var objectCount = 0
    var links: [ChangeSet.LinkChange] = []
    /// The next position in ordered relationships, by relationship and row id.
    var nextPositions: [[Int64]: Int64] = [:]
    var failure: (any Error)?
    /// The evaluators of attribute rules, by target entity index.
    var evaluators: [Int: RuleEvaluator] = [:]
    var copiers: [[Int]: RecordCopier] = [:]

    /// The maximum number of objects per batch.
    static let batchSize = 2_000
    static let batchBytes = 4 << 20

    init(_ plan: MigrationPlan, _ migration: any StoreMigration, progress: @escaping (Int, String) throws -> Void) throws {
        self.plan = plan
        self.migration = migration
        self.progress = progress
        for entity in plan.target.entities where RuleEvaluator.isNeeded(entity) { evaluators[entity.index] = try RuleEvaluator(entity) }
        if let saved = migration.savedPosition {
            guard let position = try? JSONDecoder().decode(Position.self, from: Data(saved)) else {
                throw StoreError(.corrupt, "The position of an interrupted migration cannot be read.")
            }
            self.position = position
        } else {
            try reserveOffsets()
        }
    }

    /// The number of objects whose records were rewritten.
    var rewrittenObjects: Int { position.rewritten }

    /// Returns the number of objects that an interrupted attempt has migrated.
    func resumedObjects() throws -> Int {
        var count = 0
        for (index, phase) in phases.prefix(position.phase + 1).enumerated() {
            guard case .route(let route) = phase else { continue }
            var request = FetchRequest(plan.routes[route].source)
            if index == position.phase {
                guard position.rowID > .min else { continue }
                request.predicate = .compare(.objectID, .lessOrEqual, .integer(position.rowID))
            }
            count += try source.count(request)
        }
        return count
    }

    // MARK: Phases

    private var phases: [Phase] {
        var phases: [Phase] = plan.mapping?.before == nil ? [] : [.before]
        phases += plan.routes.indices.map { .route($0) }
        phases += plan.links.indices.map { .links($0) }
        phases += plan.positions.indices.map { .positions($0) }
        phases += plan.mapping?.after == nil ? [] : [.after]
        phases += plan.repairs.map { .repair($0) }
        return phases + plan.validated.map { .validate($0) }
    }

    /// Runs all phases, or the remaining phases of an interrupted attempt.
    func run() throws {
        let phases = phases
        while position.phase < phases.count {
            try run(phases[position.phase])
            try finishBatch()
            position.phase += 1
            position.rowID = .min
            try save()
        }
    }

    private func run(_ phase: Phase) throws {
        switch phase {
        case .before: try plan.mapping?.before.map { try call($0) }
        case .after: try plan.mapping?.after.map { try call($0) }
        case .route(let index): try run(plan.routes[index])
        case .links(let index): try fill(plan.links[index])
        case .positions(let index): try writePositions(plan.positions[index])
        case .repair(let index): try repair(plan.target.entities[index])
        case .validate(let index): try validate(plan.target.entities[index])
        }
    }

    func call(_ hook: (MigrationContext) throws -> Void) throws {
        try hook(MigrationContext(self))
        try checkFailure()
    }

    func save() throws {
        try migration.save(Array(try JSONEncoder().encode(position)))
    }

    /// - Throws: ``CarriedChange`` if the changes concern entities or link tables that the backend carries over.
    func apply(_ changes: ChangeSet) throws {
        if changes.isEmpty { return }
        var carried = CarriedChange()
        for part in changes.changes { if case .carried = plan.change.entities[part.entity] { carried.entities.insert(part.entity) } }
        for part in changes.links { if case .carried = plan.change.links[part.table] { carried.tables.insert(part.table) } }
        guard carried.entities.isEmpty, carried.tables.isEmpty else { throw carried }
        try migration.target.apply(changes)
    }

    /// If objects of several entities become objects of one, those of the first keep their row ids and the others receive new ones.
    private func reserveOffsets() throws {
        var seen: Set<Int> = []
        for route in plan.routes {
            for entity in route.matches.map(\.target) where !seen.insert(entity.index).inserted {
                let largest = try largestID(route.source)
                guard largest > 0 else { continue }
                let first = try migration.target.reserveIDs(entity, count: Int(largest))
                position.offsets["\(route.source.index):\(entity.index)"] = first - 1
            }
        }
        if !position.offsets.isEmpty { try save() }
    }

    private func largestID(_ entity: Entity) throws -> Int64 {
        var request = FetchRequest(entity)
        request.onlyIDs = true
        let cursor = try source.fetch(request)
        defer { cursor.close() }
        var largest: Int64 = 0
        while try cursor.next() { largest = max(largest, cursor.rowID) }
        return largest
    }

    /// Returns the offset to add to the row ids of the objects of an old entity that become objects of a new one.
    func offset(_ old: Int, _ new: Int) -> Int64 { position.offsets["\(old):\(new)"] ?? 0 }
}
