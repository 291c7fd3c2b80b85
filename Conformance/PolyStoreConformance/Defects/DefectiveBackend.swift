import PolyStoreBackend
import PolyStoreMemory

/// Backends with one defect each, which prove that the suite detects the defect.
///
/// Each wraps an in-memory store. `caughtBy` names a case that must fail on it.
public struct DefectiveBackend: Sendable, CustomStringConvertible {
    /// The description of the defect.
    public let description: String
    /// The id of a case that must fail.
    public let caughtBy: String
    /// The defective backend.
    public let target: ConformanceTarget

    /// A Boolean value that indicates whether the case hangs and fails by its time limit.
    public let hangs: Bool

    init(_ defect: BackendDefect, caughtBy: String, hangs: Bool = false, claims: Set<Capabilities.Feature> = [.concurrentReaders]) {
        description = defect.rawValue
        self.caughtBy = caughtBy
        self.hangs = hangs
        target = ConformanceTarget(name: defect.rawValue, capabilities: claims) { _ in
            StoreConfiguration(engine: "defective", location: "", isShared: false) { request in
                let inner = try StoreConfiguration.inMemory().open(
                    schema: request.schema, configurationName: request.configurationName, logger: request.logger)
                return DefectiveStore(inner, defect, claims)
            }
        }
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
        DefectiveBackend(.dropsValues, caughtBy: "values.records.together", claims: [.concurrentReaders, .namedValues]),
        DefectiveBackend(.keepsValues, caughtBy: "values.rollback.undoes", claims: [.concurrentReaders, .namedValues]),
        DefectiveBackend(.ignoresValues, caughtBy: "capability.named-values.both-ways"),
        DefectiveBackend(.dropsLogEntries, caughtBy: "log.records.together", claims: [.concurrentReaders, .changeLog]),
        DefectiveBackend(.reusesLogPositions, caughtBy: "log.positions.are-never-reused", claims: [.concurrentReaders, .changeLog]),
        DefectiveBackend(.removesTooManyEntries, caughtBy: "log.removal.up-to-a-position", claims: [.concurrentReaders, .changeLog]),
        DefectiveBackend(.ignoresLog, caughtBy: "capability.change-log.both-ways"),
        DefectiveBackend(
            .losesNullReplacement, caughtBy: "migration.fields.null-replaced-in-optional", claims: [.concurrentReaders, .migration]),
        DefectiveBackend(.restartsIDs, caughtBy: "migration.ids.continue", claims: [.concurrentReaders, .migration]),
        DefectiveBackend(
            .writesNothingAfterCompaction, caughtBy: "compaction.beside-writers.lose-nothing", claims: [.concurrentReaders, .compaction]),
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
