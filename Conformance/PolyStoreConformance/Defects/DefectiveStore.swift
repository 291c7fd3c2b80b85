import PolyStoreBackend
import PolyStoreSearch

/// Forwards every call to a sound store, except for its defect. For single-threaded cases only, apart from the defects that block other transactions.
final class DefectiveStore: StorageBackend, @unchecked Sendable {  // used by one case on one thread at a time; `open` has a lock
    private struct OpenTransactions {
        var (readers, writers) = (0, 0)
        /// A Boolean value that indicates whether every further write is refused.
        var isStopped = false
    }

    /// The open transactions, for the stores in which they block each other.
    private let open = Protected(OpenTransactions())
    let inner: any StorageBackend
    let defect: BackendDefect
    private let claims: Set<Capabilities.Feature>
    /// The open write transaction, for the store that leaks it.
    weak var writer: DefectiveWriteTransaction?
    /// A reader that began before the last commit, for the store that returns outdated data.
    var earlier: (any ReadTransaction)?
    /// The ids of updated objects, for the store that does not find them again.
    var updated: Set<Int64> = []
    var hasFailed = false
    /// The number of applied change sets, for the store that ignores one of them.
    var applied = 0
    /// The number of snapshots that began, for the store that keeps their sessions.
    private var begun = 0
    /// Values that were applied but possibly not committed, for the store that keeps them.
    var keptValues: [String: [UInt8]] = [:]

    /// Returns the failure of the next commit, once.
    fileprivate let nextFault: @Sendable () -> CommitFault?

    init(
        _ inner: any StorageBackend, _ defect: BackendDefect, _ claims: Set<Capabilities.Feature>,
        nextFault: @escaping @Sendable () -> CommitFault?
    ) {
        self.nextFault = nextFault
        self.inner = inner
        self.defect = defect
        self.claims = claims
    }

    var capabilities: Capabilities {
        var capabilities = Capabilities(features: claims, durabilities: claims.contains(.fullDurability) ? [.full] : [.relaxed])
        capabilities.waitsForServer = inner.capabilities.waitsForServer
        return capabilities
    }
    var metadata: StoreMetadata {
        var metadata = inner.metadata
        if defect == .keepsTheFormat { metadata.format = 1 }
        return metadata
    }
    var readSessions: ReadSessions? { defect == .keepsSessions ? ReadSessions(active: 0, idle: begun, maximumIdle: 8) : nil }
    func close() throws { try inner.close() }

    func beginMigration(_ change: SchemaChange) throws -> any StoreMigration {
        let entities = zip(change.entities, change.target.entities).map { part, entity in
            switch part {
            case .carried(let index, let fields) where defect == .losesNullReplacement:
                let lost = zip(fields, entity.fields).map { source, field -> SchemaChange.FieldSource in
                    guard case .field(let origin, _) = source, field.isOptional else { return source }
                    return .field(origin, replacingNullWith: .null)
                }
                return SchemaChange.EntitySource.carried(entity: index, fields: lost)
            case .carried(let index, let fields) where defect == .losesConstants:
                let lost = zip(fields, entity.fields).map { source, field -> SchemaChange.FieldSource in
                    if case .constant = source, field.isOptional { .constant(.null) } else { source }
                }
                return SchemaChange.EntitySource.carried(entity: index, fields: lost)
            case .empty where defect == .restartsIDs: return .empty(rowIDsOf: nil)
            default: return part
            }
        }
        return try inner.beginMigration(
            try SchemaChange(
                identifier: change.identifier, source: change.source, target: change.target, entities: entities, links: change.links))
    }

    func compact() throws {
        // Waits for a writer, so that the defect does not depend on the timing.
        let isReady: (OpenTransactions) -> Bool = { $0.writers > 0 || $0.isStopped }
        if defect == .writesNothingAfterCompaction { open.wait(until: isReady) { $0.isStopped = true } }
        try inner.compact()
    }

    func begin(isWriter: Bool) {
        // Waits for exclusive access if the defect requires it.
        let waits = defect == .readersWait && !isWriter || defect == .writersWait && isWriter
        let isReady: (OpenTransactions) -> Bool = { !waits || (isWriter ? $0.readers : $0.writers) == 0 }
        open.wait(until: isReady) { if isWriter { $0.writers += 1 } else { $0.readers += 1 } }
        if isWriter, defect == .writesNothingAfterCompaction { open.signal { _ in } }
    }

    func end(isWriter: Bool) { open.signal { if isWriter { $0.writers -= 1 } else { $0.readers -= 1 } } }

    func beginRead() throws -> any ReadTransaction {
        if defect == .keepsSessions { begun += 1 }
        begin(isWriter: false)
        if defect == .leaksUncommitted, let writer { return DefectiveReadTransaction(self, writer.inner, isBorrowed: true) }
        if defect == .staleSnapshot, let earlier { return DefectiveReadTransaction(self, earlier, isBorrowed: true) }
        return DefectiveReadTransaction(self, try inner.beginRead(), isBorrowed: false)
    }

    func beginRead(_ freshness: ReadFreshness) throws -> any ReadTransaction {
        guard defect == .ignoresFreshness, let earlier else { return try beginRead() }
        begin(isWriter: false)
        return DefectiveReadTransaction(self, earlier, isBorrowed: true)
    }

    func beginWrite() throws -> any WriteTransaction {
        if open.withLock({ $0.isStopped }) { throw StoreError(.io, "An earlier write failed.") }
        if defect == .staleSnapshot || defect == .ignoresFreshness { earlier = try inner.beginRead() }
        begin(isWriter: true)
        let transaction = DefectiveWriteTransaction(self, try inner.beginWrite())
        writer = transaction
        return transaction
    }
}

class DefectiveReadTransaction: ReadTransaction {
    let store: DefectiveStore
    private let first: any ReadTransaction
    /// Transactions that began later, for the stores that renew them. Rows of the earlier ones are still read.
    private var later: [any ReadTransaction] = []
    /// A Boolean value that indicates whether the owner of the transaction ends it.
    private let isBorrowed: Bool
    private var isOver = false
    private var wasRead = false

    init(_ store: DefectiveStore, _ reader: any ReadTransaction, isBorrowed: Bool) {
        self.store = store
        first = reader
        self.isBorrowed = isBorrowed
    }

    private func reader() throws -> any ReadTransaction {
        wasRead = true
        if store.defect == .followsCommits || store.defect == .beginsLate && later.isEmpty, !(self is DefectiveWriteTransaction) {
            later.append(try store.inner.beginRead())
            later.last?.interruption = interruption
        }
        return later.last ?? first
    }

    var interruption: Interruption? {
        didSet {
            guard store.defect != .ignoresInterruptions, store.defect != .checksOnce else { return }
            for reader in [first] + later { reader.interruption = interruption }
        }
    }

    /// Called at the beginning of a request.
    private func beginRequest() throws { if store.defect != .ignoresInterruptions { try interruption?.check() } }

    var version: UInt64 {
        get throws {
            let version = try (later.last ?? first).version
            return store.defect == .changesItsVersion && wasRead && !(self is DefectiveWriteTransaction) ? version + 1 : version
        }
    }
    func record(_ entity: Entity, rowID: Int64) throws -> RecordView? {
        if store.defect == .missesOneRecord, rowID % 1024 == 1023 { return nil }
        return try reader().record(entity, rowID: rowID)
    }
    func count(_ request: FetchRequest) throws -> Int {
        var request = request
        if store.defect == .countsAnything { request.sortKeys = [] }
        try beginRequest()
        let cursor = try fetch(request)
        defer { cursor.close() }
        var count = 0
        while try cursor.next() { count += 1 }
        return count
    }
    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs {
        if sources.count > 1 { try beginRequest() }
        let found = try reader().related(relationship, of: sources)
        guard store.defect == .losesPositions else { return found }
        var sorted = RelatedIDs()
        for source in sources { for target in found[source].sorted() { sorted.add(source: source, target: target) } }
        return sorted
    }
    func value(named name: String) throws -> [UInt8]? {
        if store.defect == .keepsValues, let kept = store.keptValues[name] { return kept }
        return try reader().value(named: name)
    }
    func valueNames(prefix: String) throws -> [String] {
        switch store.defect {
        case .readsPatterns:
            let escaped = prefix.replacing("*", with: "\\*").replacing("?", with: "\\?")
            let pattern = LikePattern(escaped.replacing("_", with: "?").replacing("%", with: "*") + "*")
            return try reader().valueNames(prefix: "").filter { pattern.matches($0) }
        case .ignoresCase:
            let small = Array(prefix.lowercased().utf8)
            return try reader().valueNames(prefix: "").filter { Array($0.lowercased().utf8).starts(with: small) }
        default: return try reader().valueNames(prefix: prefix)
        }
    }

    func logEntries(after position: Int64, limit: Int) throws -> [LogEntry] {
        let most = store.defect == .readsFiftyEntries ? min(limit, 50) : limit
        guard store.defect == .reusesLogPositions else { return try reader().logEntries(after: position, limit: most) }
        let removed = try reader().logBounds().removedThrough
        let entries = try reader().logEntries(after: position <= 0 ? position : position + removed, limit: limit)
        return entries.map { LogEntry(position: $0.position - removed, version: $0.version, bytes: $0.bytes) }
    }

    func logBounds() throws -> LogBounds { try reader().logBounds() }
    func end() {
        for reader in later { reader.end() }
        if !isBorrowed { first.end() }
        leave()
    }

    /// Wakes the transactions that wait for the end of this one.
    final func leave() {
        if isOver { return }
        isOver = true
        store.end(isWriter: self is DefectiveWriteTransaction)
    }

    func search(_ request: SearchRequest) throws -> SearchHits? {
        try beginRequest()
        return try reader().search(request)
    }

    func searchStatistics(_ condition: SearchCondition) throws -> SearchStatistics? {
        try beginRequest()
        return try reader().searchStatistics(condition)
    }

    func scanGroups(_ request: AggregateRequest) throws -> GroupScan? {
        guard request.fieldGroups != nil else { return nil }
        try beginRequest()
        let rows = try reader().aggregate(request.allGroups)
        switch store.defect {
        case .unsortedGroups: return GroupScan(all: rows.reversed(), of: request)
        case .losesNullGroups: return GroupScan(all: rows.filter { !$0.group.contains(.null) }, of: request)
        default: return GroupScan(all: rows, of: request)
        }
    }

    func explain(_ request: FetchRequest) throws -> QueryPlan {
        var request = request
        if store.defect == .explainsTooMuch { (request.limit, request.offset) = (nil, 0) }
        var plan = try reader().explain(request)
        if store.defect == .examinesNothing { plan.rowsExamined = 0 }
        if store.defect == .examinesNoRelatedRows, plan.relatedRowsExamined != nil { plan.relatedRowsExamined = 0 }
        return plan
    }

    func scan(_ request: FetchRequest) throws -> Scan {
        try beginRequest()
        let reader = try reader()
        switch store.defect {
        case .losesOrder:
            // Also if the wrapped store would sort them.
            var request = request
            request.sortKeys = []
            return try reader.scan(request)
        case .ignoresOffset:
            var request = request
            request.offset = 0
            return Scan(try reader.fetch(request))
        case .returnsAHundredRows:
            var request = request
            request.limit = request.limit.map { min($0, 100) }
            return Scan(try reader.fetch(request))
        case .wrongNullOrder:
            var request = request
            for index in request.sortKeys.indices {
                request.sortKeys[index].nulls = request.sortKeys[index].nullsComeFirst ? .last : .first
            }
            return Scan(try reader.fetch(request))
        case .forgetsIndexEntries:
            guard case .compare(_, .equal, _)? = request.predicate.fieldCondition, !store.updated.isEmpty else {
                return try reader.scan(request)
            }
            var request = request
            request.predicate = .and([request.predicate, .not(.oneOf(.objectID, store.updated.map { .integer($0) }))])
            return Scan(try reader.fetch(request))
        case .allOfNothingIsFalse, .takesNoEscapes, .countsUnknown:
            var request = request
            request.predicate = request.predicate.distorted(store.defect)
            return Scan(try reader.fetch(request))
        case .forgetsOthers:
            var request = request
            request.predicate = .and(request.predicate.conjuncts.filter { !$0.needsRelated })
            return Scan(try reader.fetch(request))
        default: return try reader.scan(request)
        }
    }
}

extension QueryPredicate {
    /// Returns the predicate that a store with the defect evaluates.
    fileprivate func distorted(_ defect: BackendDefect) -> QueryPredicate {
        switch node {
        case .and(let parts): return .and(parts.map { $0.distorted(defect) })
        case .or(let parts): return .or(parts.map { $0.distorted(defect) })
        case .not(let part): return .not(part.distorted(defect))
        case .related(let reference, let quantifier, let part):
            let related = QueryPredicate.related(reference, quantifier, part.distorted(defect))
            return defect == .allOfNothingIsFalse && quantifier == .all ? .and([related, .related(reference, .any, .all)]) : related
        case .text(let left, .like, let right) where defect == .takesNoEscapes:
            guard case .text(let pattern)? = right.asConstant else { return self }
            return .text(left, .like, .constant(.text(pattern.replacing("\\", with: "\\\\")), .string))
        case .compare(let left, let comparison, let right) where defect == .countsUnknown:
            guard case .count(let reference, let part) = left.node else { return self }
            guard let number = right.asConstant, case .integer(let integer) = number, part != .all, part != .none else { return self }
            // All objects except those for which the condition is false.
            guard let others = QueryExpression.arithmetic(.subtract, .count(reference), .count(reference, where: .not(part))) else {
                return self
            }
            return .compare(others, comparison, .constant(.integer(integer), .int64))
        default: return self
        }
    }
}

final class DefectiveWriteTransaction: DefectiveReadTransaction, WriteTransaction {
    let inner: any WriteTransaction
    private var deletions = 0
    private var hasChanges = false
    private var hasChangeSets = false
    /// The version of the commit whose response was lost.
    private var committed: UInt64?

    init(_ store: DefectiveStore, _ inner: any WriteTransaction) {
        self.inner = inner
        super.init(store, inner, isBorrowed: false)
    }

    func reserveIDs(_ entity: Entity, count: Int) throws -> Int64 {
        let first = try inner.reserveIDs(entity, count: count)
        return store.defect == .reusesIDs ? 1 : first
    }

    func apply(_ changes: ChangeSet) throws {
        if store.defect == .appliesPiecemeal {
            for piece in try pieces(changes) { try inner.apply(piece) }
            return
        }
        store.applied += 1
        hasChangeSets = true
        hasChanges = hasChanges || !changes.isEmpty
        if store.defect == .swallowsAnApply, store.applied == 1000 { return }
        let changes = try distorted(changes)
        if store.defect == .keepsValues { for value in changes.values { store.keptValues[value.name] = value.bytes } }
        do {
            try inner.apply(changes)
        } catch var error as StoreError {
            store.hasFailed = true
            if store.defect == .repeatsInVain { error.recovery = .retryable }
            throw error
        }
        for change in changes.changes where change.kind == .update { store.updated.insert(change.rowID) }
    }

    func commit(_ durability: Durability) throws -> UInt64 {
        if store.defect == .losesTailAfterFailure, store.hasFailed {
            let version = try inner.version
            inner.rollback()
            return version + 1
        }
        let keepsVersion = store.defect == .keepsTheVersion && !hasChangeSets || store.defect == .keepsTheVersionOfNothing && hasChangeSets
        if keepsVersion, !hasChanges {
            rollback()
            return try inner.version
        }
        defer { leave() }
        switch store.nextFault() {
        case nil: return try inner.commit(durability)
        case .notSerializable:
            inner.rollback()
            throw StoreError(
                .conflict, "The suite lets the commit fail.", recovery: store.defect == .refusesForGood ? .permanent : .retryable)
        case .responseLost(let isCommitted):
            if isCommitted { committed = try inner.commit(durability) } else { inner.rollback() }
            throw StoreError(.io, "The suite lets the connection end.", recovery: .commitOutcomeUnknown)
        }
    }

    func apply(_ sets: [ChangeSet], committing durability: Durability?) throws -> AppliedChangeSets {
        var results = AppliedChangeSets(errors: [])
        for set in sets {
            do {
                try apply(set)
                results.errors.append(nil)
            } catch let error as StoreError where error.code == .constraint || error.code == .notFound {
                results.errors.append(error)
                if store.defect == .endsAtARefusal { return results }
            }
        }
        guard let durability, store.defect == .commitsTheRest || results.errors.allSatisfy({ $0 == nil }) else { return results }
        results.version = try commit(durability)
        return results
    }

    func commitOutcome() -> CommitOutcome {
        guard let committed, store.defect != .misreportsCommits else { return .notCommitted }
        return .committed(version: committed)
    }

    func rollback() {
        if store.defect == .keepsWhatWasRolledBack { _ = try? inner.commit(.relaxed) }
        inner.rollback()
        leave()
    }
    override func end() { rollback() }

    /// Returns a change set for each change.
    private func pieces(_ changes: ChangeSet) throws -> [ChangeSet] {
        let values = ChangeSet(changes.schema)
        for value in changes.values { try values.setValue(value.bytes, named: value.name) }
        values.copyLog(of: changes, removingMore: false)
        return try [values]
            + changes.changes.map { change in
                let piece = ChangeSet(changes.schema)
                let entity = changes.schema.entities[change.entity]
                func copy(_ builder: inout RecordBuilder) {
                    for field in entity.fields { builder.copy(field, from: changes.record(change)) }
                }
                switch change.kind {
                case .insert: try piece.insert(entity, rowID: change.rowID, copy)
                case .update: try piece.update(entity, rowID: change.rowID, mask: change.mask, copy)
                case .delete: piece.delete(entity, rowID: change.rowID)
                }
                return piece
            }
    }

    /// Returns whether the store contains the pair.
    private func isLinked(_ link: ChangeSet.LinkChange, _ schema: ResolvedSchema) throws -> Bool {
        let forward = schema.entities.lazy.flatMap(\.relationships).first { $0.storage == .link(table: link.table, isReversed: false) }
        return try forward.map { try inner.related($0, of: [link.source])[link.source].contains(link.target) } ?? false
    }

    private func distorted(_ changes: ChangeSet) throws -> ChangeSet {
        let copying: [BackendDefect] = [
            .dropsADelete, .writesEveryField, .cutsBigValues, .forgetsMoves, .dropsValues, .ignoresValues, .dropsLogEntries,
            .removesTooManyEntries, .ignoresLog, .ignoresRequiredObjects,
        ]
        guard copying.contains(store.defect) else { return changes }
        let result = ChangeSet(changes.schema)
        for change in changes.changes {
            let entity = changes.schema.entities[change.entity]
            let cuts = store.defect == .cutsBigValues
            func copy(_ builder: inout RecordBuilder) throws {
                for field in entity.fields {
                    if cuts, case .text(let text) = changes.record(change).value(field) {
                        try builder.set(field, .text(String(text.prefix(65_536))))
                    } else {
                        builder.copy(field, from: changes.record(change))
                    }
                }
            }
            switch change.kind {
            case .insert: try result.insert(entity, rowID: change.rowID, copy)
            case .update:
                let mask = store.defect == .writesEveryField ? FieldMask(first: entity.fields.count) : change.mask
                try result.update(entity, rowID: change.rowID, mask: mask, copy)
            case .delete:
                deletions += 1
                if store.defect != .dropsADelete || deletions % 2 == 1 { result.delete(entity, rowID: change.rowID) }
            }
        }
        for link in changes.links {
            if store.defect == .forgetsMoves, link.isAddition, try isLinked(link, changes.schema) { continue }
            result.link(link)
        }
        if store.defect != .ignoresRequiredObjects { for required in changes.requiredObjects { result.require(required) } }
        let drops = store.defect == .dropsValues && !changes.changes.isEmpty || store.defect == .ignoresValues
        if !drops { for value in changes.values { try result.setValue(value.bytes, named: value.name) } }
        let dropsLog = store.defect == .dropsLogEntries && !changes.changes.isEmpty || store.defect == .ignoresLog
        if !dropsLog { result.copyLog(of: changes, removingMore: store.defect == .removesTooManyEntries) }
        return result
    }
}

extension ChangeSet {
    fileprivate func copyLog(of other: ChangeSet, removingMore: Bool) {
        for entry in other.logEntries { appendLogEntry(entry) }
        guard let position = other.logRemoval else { return }
        removeLogEntries(through: removingMore && position < .max ? position + 1 : position)
    }
}
