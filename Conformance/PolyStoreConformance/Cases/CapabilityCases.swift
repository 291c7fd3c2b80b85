import PolyStoreBackend

/// Claimed features work, and unclaimed features throw `unsupported`. These cases run on every backend.
let capabilityCases: [ConformanceCase] = [
    ConformanceCase("capability.verification.both-ways", "verify works if it is claimed, and throws unsupported otherwise.") { run in
        let store = try run.open(Fixtures.company)
        if run.target.capabilities.contains(.verification) {
            try run.expect(try store.backend.verify(), equals: [])
        } else {
            try run.expectError(.unsupported) { try store.backend.verify() }
        }
    },
    ConformanceCase(
        "capability.read-only.both-ways", "Opening read-only works if it is claimed, and throws unsupported otherwise."
    ) { run in
        if run.target.capabilities.contains(.readOnlyOpen) {
            try run.open(Fixtures.company).backend.close()
            try run.expectError(.readOnly) { try run.open(Fixtures.company) { $0.readOnly() }.backend.beginWrite() }
        } else {
            try run.expectError(.unsupported) { try run.open(Fixtures.company) { $0.readOnly() } }
        }
    },
    ConformanceCase(
        "capability.named-values.both-ways",
        "Named values are stored if they are claimed; otherwise they throw unsupported and are never dropped silently."
    ) { run in
        let store = try run.open(Fixtures.company)
        if run.target.capabilities.contains(.namedValues) {
            try store.setValues([("v", [1])])
            return try run.expect(try store.value("v"), equals: [1])
        }
        try store.read { reader in
            try run.expectError(.unsupported, "reading a value") { try reader.value(named: "v") }
            try run.expectError(.unsupported, "listing values") { try reader.valueNames(prefix: "") }
        }
        let writer = try store.backend.beginWrite()
        defer { writer.rollback() }
        let changes = try store.values([("v", [1])])
        try run.expectError(.unsupported, "setting a value") { try writer.apply(changes) }
    },
    ConformanceCase(
        "capability.change-log.both-ways",
        "Log entries are stored if a change log is claimed; otherwise they throw unsupported and are never dropped silently."
    ) { run in
        let store = try run.open(Fixtures.company)
        if run.target.capabilities.contains(.changeLog) {
            try store.append([[1]])
            return try run.expect(try store.entries().map(\.bytes), equals: [[1]])
        }
        try store.read { reader in
            try run.expectError(.unsupported, "reading entries") { try reader.logEntries(after: 0, limit: 1) }
            try run.expectError(.unsupported, "reading bounds") { try reader.logBounds() }
        }
        let writer = try store.backend.beginWrite()
        defer { writer.rollback() }
        let changes = store.log([[1]])
        try run.expectError(.unsupported, "appending an entry") { try writer.apply(changes) }
        let removal = store.log([], removing: 1)
        try run.expectError(.unsupported, "removing entries") { try writer.apply(removal) }
    },
    ConformanceCase(
        "capability.migration.both-ways", "A store can be migrated if migration is claimed; otherwise a migration throws unsupported."
    ) { run in
        let store = try Pets.open(run)
        let change = try Pets.toAnimals(store)
        if run.target.capabilities.contains(.migration) { return try store.backend.beginMigration(change).rollback() }
        try run.expectError(.unsupported) { try store.backend.beginMigration(change) }
        try run.expect(try store.read { try $0.count(FetchRequest(try store.entity("Pet"))) }, equals: Pets.pets.count)
    },
    ConformanceCase(
        "capability.copying.both-ways", "A store can be copied if copying is claimed; otherwise copying throws unsupported."
    ) { run in
        let store = try Pets.open(run)
        let location = run.location("copy")
        if run.target.capabilities.contains(.copying) { return try store.backend.copy(to: run.copyLocation("copy")) }
        try run.expectError(.unsupported) { try store.backend.copy(to: location.path) }
        try run.expect(try StorePath(path: location.path).kind(), equals: .absent, "the file at the path")
    },
    ConformanceCase(
        "capability.compaction.both-ways", "A store can be compacted if compaction is claimed; otherwise compaction throws unsupported."
    ) { run in
        let store = try Pets.open(run)
        let before = try Pets.contents(store)
        if run.target.capabilities.contains(.compaction) {
            try store.backend.compact()
        } else {
            try run.expectError(.unsupported) { try store.backend.compact() }
        }
        try run.expect(try Pets.contents(store), equals: before)
    },
    ConformanceCase("capability.persistence.both-ways", "Only a store without persistence is empty after reopening.") {
        run in
        let store = try run.open(Fixtures.company)
        try store.insert("Club", [[.text("chess")]])
        try store.backend.close()
        let found = try run.open(Fixtures.company).row("Club", 1)
        try run.expect(found != nil, equals: run.target.capabilities.contains(.persistence))
    },
    ConformanceCase(
        "capability.planned-indexes.both-ways",
        "If planned indexes are claimed, plans name the index of every indexed condition, and otherwise not of all."
    ) { run in
        let (store, item) = try ItemCatalog.open(run, items: 200)
        let isClaimed = run.target.capabilities.contains(.plannedIndexes)
        let names = Set(item.indexes.map(\.name))
        let scans = try store.read { transaction in
            try ItemCatalog.served(store).filter { what, predicate in
                let plan = try transaction.explain(FetchRequest(item, predicate: predicate))
                for access in plan.accesses where access.path == .search || access.path == .index {
                    try run.expect(access.index.map(names.contains) ?? false, "\(what): \(access), of \(names.sorted())")
                }
                if isClaimed { try run.expect(!plan.isScan, "\(what), and plannedIndexes is claimed: \(plan)") }
                return plan.isScan
            }
        }
        if !isClaimed { try run.expect(!scans.isEmpty, "every plan names an index, but plannedIndexes is not claimed") }
    },
    ConformanceCase(
        "capability.transferable-writer.goes-on-elsewhere",
        "A write transaction can be begun, used, committed and rolled back on different threads.",
        requires: [.transferableWriter]
    ) { run in
        let store = try run.open(Fixtures.company)
        let person = try store.entity("Person")
        for isCommitted in [false, true] {
            let writer = try await onThread { TransferredWriter(try store.backend.beginWrite()) }
            for id in 1...8 as ClosedRange<Int64> {
                let seen = try await onThread {
                    let changes = ChangeSet(store.schema)
                    try changes.insert(person, rowID: id, Fixtures.person("p\(id)", id))
                    try writer.transaction.apply(changes)
                    return try writer.transaction.ids(FetchRequest(person))
                }
                try run.expect(seen, equals: Array(1...id))
            }
            _ = try await onThread { if isCommitted { _ = try writer.transaction.commit(.full) } else { writer.transaction.rollback() } }
            try run.expect(try store.ids(FetchRequest(person)), equals: isCommitted ? Array(1...8) : [])
        }
    },
    ConformanceCase(
        "capability.durability.full-is-claimed-where-kept", "A backend that claims full durability lists it among its durabilities."
    ) { run in
        let claimed = try run.open(Fixtures.company).backend.capabilities
        try run.expect(claimed.durabilities.contains(.full), equals: claimed.has(.fullDurability))
        try run.expect(!claimed.durabilities.isEmpty, "no durability")
    },
]

/// A write transaction that is handed from one thread to another.
private final class TransferredWriter: @unchecked Sendable {  // awaited by one thread before the next uses it
    let transaction: any WriteTransaction
    init(_ transaction: any WriteTransaction) { self.transaction = transaction }
}
