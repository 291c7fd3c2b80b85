import PolyStoreBackend
import PolyStoreMemory

/// Backends with one fault each, which prove that the suite detects the fault.
///
/// Each wraps an in-memory store. `caughtBy` names a case that must fail on it.
public struct BrokenBackend: Sendable, CustomStringConvertible {
    /// The description of the fault.
    public let description: String
    /// The id of a case that must fail.
    public let caughtBy: String
    /// The faulty backend.
    public let target: ConformanceTarget

    /// A Boolean value that indicates whether the case hangs and fails by its time limit.
    public let hangs: Bool

    init(_ fault: Fault, caughtBy: String, hangs: Bool = false, claims: Set<Capabilities.Feature> = [.concurrentReaders]) {
        description = fault.rawValue
        self.caughtBy = caughtBy
        self.hangs = hangs
        target = ConformanceTarget(name: fault.rawValue, capabilities: claims) { _ in
            StoreConfiguration(engine: "broken", location: "", isShared: false) { request in
                let inner = try StoreConfiguration.inMemory().open(
                    schema: request.schema, configurationName: request.configurationName, logger: request.logger)
                return BrokenStore(inner, fault, claims)
            }
        }
    }

    /// All faulty backends.
    public static let all: [BrokenBackend] = [
        BrokenBackend(.dropsADelete, caughtBy: "writing.delete.every-one"),
        BrokenBackend(.losesOrder, caughtBy: "order.int64.by-value"),
        BrokenBackend(.leaksUncommitted, caughtBy: "transaction.write.is-invisible-until-commit"),
        BrokenBackend(
            .forgetsWhatWasCommitted, caughtBy: "opening.reopen.keeps-objects", claims: [.concurrentReaders, .persistence, .fullDurability]),
        BrokenBackend(.forgetsIndexEntries, caughtBy: "writing.update.moves-index-entries"),
        BrokenBackend(.staleSnapshot, caughtBy: "transaction.snapshot.sees-what-was-committed-before"),
        BrokenBackend(.wrongNullOrder, caughtBy: "order.null.where-told"),
        BrokenBackend(.losesTailAfterFailure, caughtBy: "writing.apply.is-all-or-nothing"),
        BrokenBackend(.ignoresOffset, caughtBy: "query.limit.and-offset"),
        BrokenBackend(.writesEveryField, caughtBy: "writing.update.masked-fields-only"),
        BrokenBackend(.reusesIDs, caughtBy: "writing.ids.start-at-one"),
        BrokenBackend(.unsortedGroups, caughtBy: "group.text.by-value"),
        BrokenBackend(.losesNullGroups, caughtBy: "group.two-fields.nest"),
        BrokenBackend(.explainsTooMuch, caughtBy: "plan.rows.returned-are-those-of-the-fetch"),
        BrokenBackend(.cutsBigValues, caughtBy: "big.of-65537.there-and-back"),
        BrokenBackend(.appliesPiecemeal, caughtBy: "apply.failed.missing-delete"),
        BrokenBackend(.dropsValues, caughtBy: "values.records.together", claims: [.concurrentReaders, .namedValues]),
        BrokenBackend(.keepsValues, caughtBy: "values.rollback.undoes", claims: [.concurrentReaders, .namedValues]),
        BrokenBackend(.ignoresValues, caughtBy: "capability.named-values.both-ways"),
        BrokenBackend(.dropsLogEntries, caughtBy: "log.records.together", claims: [.concurrentReaders, .changeLog]),
        BrokenBackend(.reusesLogPositions, caughtBy: "log.positions.are-never-reused", claims: [.concurrentReaders, .changeLog]),
        BrokenBackend(.removesTooManyEntries, caughtBy: "log.removal.up-to-a-position", claims: [.concurrentReaders, .changeLog]),
        BrokenBackend(.ignoresLog, caughtBy: "capability.change-log.both-ways"),
        BrokenBackend(
            .losesNullReplacement, caughtBy: "migration.fields.null-replaced-in-optional", claims: [.concurrentReaders, .migration]),
        BrokenBackend(.restartsIDs, caughtBy: "migration.ids.continue", claims: [.concurrentReaders, .migration]),
        BrokenBackend(.allOfNothingIsFalse, caughtBy: "related.all.of-none"),
        BrokenBackend(.forgetsOthers, caughtBy: "related.any.link"),
        BrokenBackend(.takesNoEscapes, caughtBy: "text.like.escapes"),
        BrokenBackend(.countsUnknown, caughtBy: "related.count.with-a-condition"),
        BrokenBackend(.losesPositions, caughtBy: "relationship.ordered.inverse-by-position"),
        BrokenBackend(.forgetsMoves, caughtBy: "relationship.ordered.link-added-again"),
        BrokenBackend(.followsCommits, caughtBy: "isolation.read-skew.two-entities"),
        BrokenBackend(.beginsLate, caughtBy: "isolation.snapshot.from-its-beginning"),
        BrokenBackend(.keepsWhatWasRolledBack, caughtBy: "isolation.dirty-read.aborted"),
        BrokenBackend(.readersWait, caughtBy: "concurrency.reader.does-not-wait-for-the-writer", hangs: true),
        BrokenBackend(.writersWait, caughtBy: "concurrency.writer.does-not-wait-for-readers", hangs: true),
    ]
}

/// The faults of stores.
enum Fault: String, Sendable {
    case dropsADelete = "drops every second deletion"
    case losesOrder = "says that rows are sorted, and they are not"
    case leaksUncommitted = "shows readers what is not committed"
    case forgetsWhatWasCommitted = "acknowledges commits that do not survive closing"
    case forgetsIndexEntries = "misses updated objects when it looks for a value"
    case staleSnapshot = "lets new readers see an older version"
    case wrongNullOrder = "puts null where it does not belong"
    case losesTailAfterFailure = "loses what is written after a failure"
    case ignoresOffset = "ignores the offset"
    case writesEveryField = "writes all fields of an update"
    case reusesIDs = "gives the same ids twice"
    case unsortedGroups = "gives groups in no order"
    case losesNullGroups = "leaves null out of groups"
    case explainsTooMuch = "forgets limit and offset when it explains"
    case cutsBigValues = "keeps 65,536 bytes of a text"
    case allOfNothingIsFalse = "takes ALL of no objects for false"
    case forgetsOthers = "forgets what remains of a condition where it is on other objects"
    case takesNoEscapes = "takes a backslash in LIKE for itself"
    case countsUnknown = "counts objects of which a condition is unknown"
    case losesPositions = "gives the objects of a relationship by their ids, whatever their positions"
    case forgetsMoves = "does not move a link that is there"
    case followsCommits = "lets readers see what is committed after they began"
    case beginsLate = "begins a reader's version when it asks for the first time"
    case keepsWhatWasRolledBack = "commits what was rolled back"
    case readersWait = "lets readers wait for the writer"
    case writersWait = "lets the writer wait for readers"
    case appliesPiecemeal = "keeps the beginning of a change set that fails"
    case dropsValues = "drops the named values of a change set that has records"
    case keepsValues = "keeps the named values of a transaction that is rolled back"
    case dropsLogEntries = "drops the log entries of a change set that has records"
    case reusesLogPositions = "uses a position of the change log again after all entries were removed"
    case removesTooManyEntries = "removes one entry of the change log more than asked for"
    case ignoresLog = "does not claim a change log and drops its entries silently"
    case losesNullReplacement = "keeps null where a migration replaces it"
    case restartsIDs = "begins the ids of a migrated entity with 1"
    case ignoresValues = "does not claim named values and drops them silently"
}
