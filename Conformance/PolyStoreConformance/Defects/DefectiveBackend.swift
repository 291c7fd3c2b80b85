import PolyStoreBackend
import PolyStoreMemory

/// Backends with one defect each, which prove that the suite detects the defect.
///
/// Each wraps an in-memory store, or that of another backend. `caughtBy` names a case that must fail on it.
public struct DefectiveBackend: Sendable, CustomStringConvertible {
    /// The description of the defect.
    public let description: String
    /// The id of a case that must fail.
    public let caughtBy: String
    /// The defective backend.
    public let target: ConformanceTarget

    /// A Boolean value that indicates whether the case hangs and fails by its time limit.
    public let hangs: Bool

    /// A Boolean value that indicates whether only its case detects the defect: it shows with many rows or commits, or in calls that random operations do
    /// not make.
    public let isRare: Bool

    private let defect: BackendDefect
    private let failsCommits: Bool

    init(
        _ defect: BackendDefect, caughtBy: String, hangs: Bool = false, isRare: Bool = false,
        claims: Set<Capabilities.Feature> = [.concurrentReaders], failsCommits: Bool = false
    ) {
        (self.defect, self.failsCommits) = (defect, failsCommits)
        description = defect.rawValue
        self.caughtBy = caughtBy
        self.hangs = hangs
        self.isRare = isRare
        target = Self.target(defect, claims, failsCommits: failsCommits) { _ in .inMemory() }
    }

    /// Returns a target with the defect whose stores wrap those of another target.
    ///
    /// It claims the same features as ``target``, so that the same cases run. Nothing removes the data of a case, because one that fails can leave transactions open.
    package func target(wrapping base: ConformanceTarget) -> ConformanceTarget {
        Self.target(defect, target.capabilities, keepsLocalFiles: base.keepsLocalFiles, failsCommits: failsCommits) { [defect] location in
            let store = base.store(location)
            // The next opening finds nothing, as in a new store in memory.
            if defect == .forgetsWhatWasCommitted { try store.erase() }
            return store
        }
    }

    private static func target(
        _ defect: BackendDefect, _ claims: Set<Capabilities.Feature>, keepsLocalFiles: Bool = true, failsCommits: Bool,
        _ inner: @escaping @Sendable (ConformanceLocation) throws -> StoreConfiguration
    ) -> ConformanceTarget {
        let faults = Protected<[String: CommitFault]>([:])
        let failCommit: @Sendable (ConformanceLocation, CommitFault) -> Void = { location, fault in
            faults.withLock { $0[location.path] = fault }
        }
        return ConformanceTarget(
            name: defect.rawValue, capabilities: claims, keepsLocalFiles: keepsLocalFiles,
            store: { location in
                StoreConfiguration(engine: "defective", location: "", isShared: false) { request in
                    let store = try inner(location).open(
                        schema: request.schema, configurationName: request.configurationName, logger: request.logger)
                    return DefectiveStore(store, defect, claims) { faults.withLock { $0.removeValue(forKey: location.path) } }
                }
            }, failCommit: failsCommits ? failCommit : nil)
    }

    /// All defective backends.
    public static let all: [DefectiveBackend] = [
        DefectiveBackend(.dropsADelete, caughtBy: "writing.delete.every-one"),
        DefectiveBackend(.losesOrder, caughtBy: "order.int64.by-value"),
        DefectiveBackend(.leaksUncommitted, caughtBy: "transaction.write.is-invisible-until-commit"),
        DefectiveBackend(
            .forgetsWhatWasCommitted, caughtBy: "opening.reopen.keeps-objects", claims: [.concurrentReaders, .persistence, .fullDurability]),
        DefectiveBackend(.forgetsIndexEntries, caughtBy: "writing.update.moves-index-entries"),
        DefectiveBackend(.staleSnapshot, caughtBy: "transaction.snapshot.sees-what-was-committed-before"),
        DefectiveBackend(.wrongNullOrder, caughtBy: "order.null.where-told"),
        DefectiveBackend(.losesTailAfterFailure, caughtBy: "writing.apply.is-all-or-nothing"),
        DefectiveBackend(.ignoresOffset, caughtBy: "query.limit.and-offset"),
        DefectiveBackend(.writesEveryField, caughtBy: "writing.update.masked-fields-only"),
        DefectiveBackend(.reusesIDs, caughtBy: "writing.ids.start-at-one"),
        DefectiveBackend(.unsortedGroups, caughtBy: "group.text.by-value"),
        DefectiveBackend(.losesNullGroups, caughtBy: "group.two-fields.nest"),
        DefectiveBackend(.explainsTooMuch, caughtBy: "plan.rows.returned-are-those-of-the-fetch"),
        DefectiveBackend(.cutsBigValues, caughtBy: "big.of-65537.there-and-back"),
        DefectiveBackend(.appliesPiecemeal, caughtBy: "apply.failed.missing-delete"),
        DefectiveBackend(.dropsValues, caughtBy: "values.records.together", isRare: true, claims: [.concurrentReaders, .namedValues]),
        DefectiveBackend(.keepsValues, caughtBy: "values.rollback.undoes", isRare: true, claims: [.concurrentReaders, .namedValues]),
        DefectiveBackend(.ignoresValues, caughtBy: "capability.named-values.both-ways", isRare: true),
        DefectiveBackend(.dropsLogEntries, caughtBy: "log.records.together", isRare: true, claims: [.concurrentReaders, .changeLog]),
        DefectiveBackend(
            .reusesLogPositions, caughtBy: "log.positions.are-never-reused", isRare: true, claims: [.concurrentReaders, .changeLog]),
        DefectiveBackend(
            .removesTooManyEntries, caughtBy: "log.removal.up-to-a-position", isRare: true, claims: [.concurrentReaders, .changeLog]),
        DefectiveBackend(.ignoresLog, caughtBy: "capability.change-log.both-ways", isRare: true),
        DefectiveBackend(
            .losesNullReplacement, caughtBy: "migration.fields.null-replaced-in-optional", isRare: true,
            claims: [.concurrentReaders, .migration]),
        DefectiveBackend(.restartsIDs, caughtBy: "migration.ids.continue", isRare: true, claims: [.concurrentReaders, .migration]),
        DefectiveBackend(
            .losesConstants, caughtBy: "migration.fields.added-optional-constant", isRare: true, claims: [.concurrentReaders, .migration]),
        DefectiveBackend(
            .readsPatterns, caughtBy: "values.names.prefix-is-plain-text", isRare: true, claims: [.concurrentReaders, .namedValues]),
        DefectiveBackend(
            .ignoresCase, caughtBy: "values.names.prefix-in-capitals", isRare: true, claims: [.concurrentReaders, .namedValues]),
        DefectiveBackend(
            .readsFiftyEntries, caughtBy: "log.reading.many-at-once", isRare: true, claims: [.concurrentReaders, .changeLog]),
        DefectiveBackend(.returnsAHundredRows, caughtBy: "query.limit.above-100", isRare: true),
        DefectiveBackend(.keepsTheVersion, caughtBy: "lifetime.version.grows-without-changes", isRare: true),
        DefectiveBackend(.keepsTheVersionOfNothing, caughtBy: "lifetime.version.grows-with-an-empty-change-set", isRare: true),
        DefectiveBackend(.missesOneRecord, caughtBy: "query.record.finds-every-object", isRare: true),
        DefectiveBackend(.swallowsAnApply, caughtBy: "writing.apply.thousands", isRare: true),
        DefectiveBackend(.countsAnything, caughtBy: "refusal.count.invalid-order", isRare: true),
        DefectiveBackend(.keepsSessions, caughtBy: "snapshot.sessions.idle-ones-are-limited", isRare: true),
        DefectiveBackend(.ignoresFreshness, caughtBy: "snapshot.freshness.not-before-a-commit", isRare: true),
        DefectiveBackend(.changesItsVersion, caughtBy: "snapshot.version.does-not-depend-on-reads", isRare: true),
        DefectiveBackend(.examinesNothing, caughtBy: "plan.rows.examined-are-at-least-the-returned", isRare: true),
        DefectiveBackend(.examinesNoRelatedRows, caughtBy: "plan.related.examined-rows-are-counted", isRare: true),
        DefectiveBackend(
            .writesNothingAfterCompaction, caughtBy: "compaction.beside-writers.lose-nothing", isRare: true,
            claims: [.concurrentReaders, .compaction]),
        DefectiveBackend(.repeatsInVain, caughtBy: "recovery.request.is-permanent", isRare: true),
        DefectiveBackend(.refusesForGood, caughtBy: "recovery.commit.not-serializable", isRare: true, failsCommits: true),
        DefectiveBackend(.misreportsCommits, caughtBy: "recovery.commit.response-lost", isRare: true, failsCommits: true),
        DefectiveBackend(.endsAtARefusal, caughtBy: "apply.several.refused-alone", isRare: true),
        DefectiveBackend(.commitsTheRest, caughtBy: "apply.several.refused-alone", isRare: true),
        DefectiveBackend(
            .ignoresRequiredObjects, caughtBy: "apply.required.missing", isRare: true, claims: [.concurrentReaders, .requiredObjects]),
        DefectiveBackend(
            .keepsTheFormat, caughtBy: "search.format.refuses-earlier-releases", isRare: true,
            claims: [.concurrentReaders, .persistence, .migration, .searchIndexes]),
        DefectiveBackend(.ignoresInterruptions, caughtBy: "interruption.before.every-request", isRare: true),
        DefectiveBackend(.checksOnce, caughtBy: "interruption.during.within-10000-rows", isRare: true),
        DefectiveBackend(.allOfNothingIsFalse, caughtBy: "related.all.of-none"),
        DefectiveBackend(.forgetsOthers, caughtBy: "related.any.link"),
        DefectiveBackend(.takesNoEscapes, caughtBy: "text.like.escapes"),
        DefectiveBackend(.countsUnknown, caughtBy: "related.count.with-a-condition"),
        DefectiveBackend(.losesPositions, caughtBy: "relationship.ordered.inverse-by-position"),
        DefectiveBackend(.forgetsMoves, caughtBy: "relationship.ordered.link-added-again"),
        DefectiveBackend(.followsCommits, caughtBy: "isolation.read-skew.two-entities"),
        DefectiveBackend(.beginsLate, caughtBy: "isolation.snapshot.from-its-beginning"),
        DefectiveBackend(.keepsWhatWasRolledBack, caughtBy: "isolation.dirty-read.aborted"),
        DefectiveBackend(.readersWait, caughtBy: "concurrency.reader.does-not-wait-for-the-writer", hangs: true),
        DefectiveBackend(.writersWait, caughtBy: "concurrency.writer.does-not-wait-for-readers", hangs: true),
    ]
}
