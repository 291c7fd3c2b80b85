import PolyStoreBackend
import PolyStoreKeyValue

/// Ordered engines with one fault each, which prove that the suites detect the fault.
///
/// Each engine stores its data in a file or a folder. `caughtBy` names an ``EngineCase`` or ``ConformanceCase`` that must fail on it.
public struct BrokenEngine: Sendable, CustomStringConvertible {
    /// The description of the fault.
    public let description: String
    /// The id of a case that must fail.
    public let caughtBy: String
    /// The target for ``EngineCase``.
    public let engine: EngineTarget
    /// The target for ``ConformanceCase``: the record layer over the engine.
    public let backend: ConformanceTarget

    /// A Boolean value that indicates whether the case hangs and fails by its time limit.
    public let hangs: Bool

    init(_ fault: EngineFault, caughtBy: String) {
        hangs = fault == .snapshotWaits || fault == .writerWaits
        description = fault.rawValue
        self.caughtBy = caughtBy
        let features: Set<Capabilities.Feature> = [.persistence, .fullDurability]
        let open = { @Sendable (path: String) in
            let make = { try FaultyFileEngine(path: path, fault) }
            return fault == .opensTwice ? EngineHandle(private: try make()) : try .shared("broken:\(path)", isReadOnly: false, make: make)
        }
        engine = EngineTarget(name: fault.rawValue, features: features) { try open($0.path) }
        backend = ConformanceTarget(
            name: fault.rawValue,
            capabilities: features.union([
                .concurrentReaders, .verification, .plannedIndexes, .transferableWriter, .namedValues, .changeLog, .migration,
            ])
        ) { place in
            StoreConfiguration(engine: "broken", location: place.path) { request in
                if request.isReadOnly { throw StoreError(.unsupported, "The store cannot be opened for reading only.", url: place.path) }
                return try KeyValueBackend(open(place.path), request)
            }
        }
    }

    /// The same engine without a fault, in a file and in a folder.
    public static let sound = [BrokenEngine(.none, caughtBy: ""), BrokenEngine(.noneInAFolder, caughtBy: "")]

    /// All faulty engines.
    public static let all: [BrokenEngine] = [
        BrokenEngine(.emptySeekFindsNothing, caughtBy: "engine.seek.empty-key-goes-to-the-first-key"),
        BrokenEngine(.lastOfTheFirstRange, caughtBy: "engine.last.is-the-last-key-of-all"),
        BrokenEngine(.removesPrefix, caughtBy: "engine.remove.takes-one-key"),
        BrokenEngine(.removesNeighbour, caughtBy: "engine.remove.absent-key"),
        BrokenEngine(.lazySnapshot, caughtBy: "engine.snapshot.is-taken-at-once"),
        BrokenEngine(.snapshotWaits, caughtBy: "engine.snapshot.does-not-wait-for-a-writer"),
        BrokenEngine(.writerWaits, caughtBy: "engine.writer.does-not-wait-for-a-snapshot"),
        BrokenEngine(.opensTwice, caughtBy: "engine.sharing.one-place-is-one-engine"),
        BrokenEngine(.tearsBatches, caughtBy: "engine.batch.all-or-nothing"),
        BrokenEngine(.stopsAtTheBatchEnd, caughtBy: "engine.entries.copied-agree-with-next"),
        BrokenEngine(.takesForeignFolder, caughtBy: "opening.foreign-folder.is-refused"),
        BrokenEngine(.openFileMode, caughtBy: "opening.new.files-are-the-owners"),
        BrokenEngine(.openFolderMode, caughtBy: "opening.new.folders-are-the-owners"),
        BrokenEngine(.skipsDamagedBlocks, caughtBy: "damage.flipped-bit.is-found-by-every-walk"),
        BrokenEngine(.keepsRelaxedInMemory, caughtBy: "kill.relaxed.is-in-the-files"),
        BrokenEngine(.neverFlushes, caughtBy: "durability.full.flushes"),
    ]
}

/// The faults of engines.
enum EngineFault: String, Sendable {
    case none = "has no fault"
    case noneInAFolder = "has no fault, in a folder"
    case emptySeekFindsNothing = "finds nothing when it seeks an empty key"
    case lastOfTheFirstRange = "takes the last key of the first range of keys for the last of all"
    case removesPrefix = "removes all keys that begin with the one to be removed"
    case removesNeighbour = "removes the next key where the one to be removed is absent"
    case lazySnapshot = "takes a snapshot when it is first read"
    case snapshotWaits = "lets a snapshot wait for the writer"
    case writerWaits = "lets the writer wait for snapshots"
    case opensTwice = "opens one place twice"
    case tearsBatches = "shows a batch while it is being written"
    case stopsAtTheBatchEnd = "loses an entry between two walks at once"
    case takesForeignFolder = "makes a store in a folder of somebody else"
    case openFileMode = "makes files that everybody can read"
    case openFolderMode = "makes a folder that everybody can read"
    case skipsDamagedBlocks = "skips blocks whose checksum is wrong"
    case keepsRelaxedInMemory = "keeps relaxed commits in memory until it is closed"
    case neverFlushes = "never flushes"

    /// A Boolean value that indicates whether the data is stored in a folder.
    var usesFolder: Bool { [.noneInAFolder, .takesForeignFolder, .openFolderMode].contains(self) }
}
