import PolyStoreBackend
import PolyStoreKeyValue

/// Ordered engines with one defect each, which prove that the suites detect the defect.
///
/// Each engine stores its data in a file or a folder. `caughtBy` names an ``EngineCase`` or ``ConformanceCase`` that must fail on it.
public struct DefectiveEngine: Sendable, CustomStringConvertible {
    /// The description of the defect.
    public let description: String
    /// The id of a case that must fail.
    public let caughtBy: String
    /// The target for ``EngineCase``.
    public let engine: EngineTarget
    /// The target for ``ConformanceCase``: the record layer over the engine.
    public let backend: ConformanceTarget

    /// A Boolean value that indicates whether the case hangs and fails by its time limit.
    public let hangs: Bool

    init(_ defect: EngineDefect, caughtBy: String) {
        hangs = defect == .snapshotWaits || defect == .writerWaits
        description = defect.rawValue
        self.caughtBy = caughtBy
        let features: Set<Capabilities.Feature> = [.persistence, .fullDurability, .copying]
        let open = { @Sendable (path: String) in
            var path = defect == .opensEachNameApart ? path : StorePath.resolve(path)
            if defect == .ignoresCaseOfNames, let start = path.lastIndex(of: "/") { path = path[..<start] + path[start...].lowercased() }
            let make = { [path] in try DefectiveFileEngine(path: path, defect) }
            return defect == .opensTwice
                ? EngineHandle(private: try make()) : try .shared("defective:\(path)", isReadOnly: false, make: make)
        }
        engine = EngineTarget(name: defect.rawValue, features: features) { try open($0.path) }
        backend = ConformanceTarget(
            name: defect.rawValue,
            capabilities: features.union([
                .concurrentReaders, .verification, .plannedIndexes, .transferableWriter, .namedValues, .changeLog, .migration,
            ])
        ) { location in
            StoreConfiguration(engine: "defective", location: location.path) { request in
                if request.isReadOnly {
                    throw StoreError(.unsupported, "The store cannot be opened for reading only.", location: location.path)
                }
                return try KeyValueBackend(open(location.path), request)
            }
        }
    }

    /// The same engine without a defect, in a file and in a folder.
    public static let sound = [DefectiveEngine(.none, caughtBy: ""), DefectiveEngine(.noneInAFolder, caughtBy: "")]

    /// All defective engines.
    public static let all: [DefectiveEngine] = [
        DefectiveEngine(.emptySeekFindsNothing, caughtBy: "engine.seek.empty-key-goes-to-the-first-key"),
        DefectiveEngine(.lastOfTheFirstRange, caughtBy: "engine.last.is-the-last-key-of-all"),
        DefectiveEngine(.removesPrefix, caughtBy: "engine.remove.takes-one-key"),
        DefectiveEngine(.removesNeighbour, caughtBy: "engine.remove.absent-key"),
        DefectiveEngine(.lazySnapshot, caughtBy: "engine.snapshot.is-taken-at-once"),
        DefectiveEngine(.snapshotWaits, caughtBy: "engine.snapshot.does-not-wait-for-a-writer"),
        DefectiveEngine(.writerWaits, caughtBy: "engine.writer.does-not-wait-for-a-snapshot"),
        DefectiveEngine(.opensTwice, caughtBy: "engine.sharing.one-place-is-one-engine"),
        DefectiveEngine(.tearsBatches, caughtBy: "engine.batch.all-or-nothing"),
        DefectiveEngine(.stopsAtTheBatchEnd, caughtBy: "engine.entries.copied-agree-with-next"),
        DefectiveEngine(.takesForeignFolder, caughtBy: "opening.foreign-folder.is-refused"),
        DefectiveEngine(.openFileMode, caughtBy: "opening.new.files-are-the-owners"),
        DefectiveEngine(.openFolderMode, caughtBy: "opening.new.folders-are-the-owners"),
        DefectiveEngine(.skipsDamagedBlocks, caughtBy: "damage.flipped-bit.is-found-by-every-walk"),
        DefectiveEngine(.keepsRelaxedInMemory, caughtBy: "kill.relaxed.is-in-the-files"),
        DefectiveEngine(.neverFlushes, caughtBy: "durability.full.flushes"),
        DefectiveEngine(.skipsTheTenthFlush, caughtBy: "durability.full.flushes-every-commit"),
        DefectiveEngine(.writesValuesApart, caughtBy: "kill.flush.is-all-or-nothing"),
        DefectiveEngine(.splitsBigBatches, caughtBy: "kill.flush.big-commit-is-all-or-nothing"),
        DefectiveEngine(.showsHalfBatches, caughtBy: "engine.batch.big-is-all-or-nothing"),
        DefectiveEngine(.keepsSnapshots, caughtBy: "space.snapshots.ended-are-released"),
        DefectiveEngine(.readsEndedSnapshots, caughtBy: "engine.snapshot.ended-is-closed"),
        DefectiveEngine(.missesOneKey, caughtBy: "engine.get.finds-every-key"),
        DefectiveEngine(.swallowsABatch, caughtBy: "engine.batch.thousands"),
        DefectiveEngine(.ignoresCaseOfNames, caughtBy: "opening.two-names.are-two-stores"),
        DefectiveEngine(.opensEachNameApart, caughtBy: "opening.other-name.is-the-same-store"),
        DefectiveEngine(.forgetsMigrations, caughtBy: "migration.back.stale-commit-is-refused-or-kept"),
        DefectiveEngine(.keepsInterruptedCopies, caughtBy: "copying.interrupted.is-removed-by-the-next-opening"),
        DefectiveEngine(.removesCopiesInUse, caughtBy: "copying.openings.do-not-disturb-a-copy"),
    ]
}
