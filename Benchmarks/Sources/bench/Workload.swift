import PeerKit

/// Runs workloads by name.
///
/// - `W1` to `W13`, `W3r`, `W8b`, `W8c` and `W11i`: on persons and departments; `W14`: the atlas; `W15`: YCSB; `W16`, `W17`: imports of text; `W13m`, `W18`, `W18f`: observed lists; `W19`: migrations; `W20`: many small
///   changes; `W21`: single operations of a client of a server; `W22make`, `W22to-ENGINE`: conversions; `M1`, `M2`: memory with many rows
/// - `text`: writes the records of W17 to the standard output
/// - `prepare`: creates the store, `W0`: creates the persons of W1, both without a measurement; `end`: a checksum over everything after the changes
/// - `load`, `read`, `mutate`, `open`: groups of workloads in one process, as in the peers
/// - `W23`, `W23q`: full-text search, by `search/objects.sh`
/// - `records`: `W1r` to `W6r`, the same on records, without objects
struct Workload: Sendable {
    let store: BenchStore
    let started: Stamp

    /// - Returns: false for an unknown workload.
    func run(_ name: String) throws -> Bool {
        let objects = ObjectWorkloads(store)
        switch name {
        case "prepare": _ = try store.stack()
        case "W0": sink &+= UInt64(RawPerson.make(from: 1, count: PB.n).count)
        case "W1": try objects.insert()
        case "W2": try objects.fetchAll()
        case "W2t": try objects.fetchAllElsewhere()
        case "W3": try objects.getByID()
        case "W3r": try objects.getByIDInReads()
        case "W4": try objects.ranges()
        case "W5": try objects.countByFilter()
        case "W6": try objects.group()
        case "W7": try objects.update()
        case "W8": try objects.commitDurably()
        case "W8b": try objects.commitRelaxed()
        case "W8c": try objects.commitConcurrently()
        case "W9": try objects.delete()
        case "W10": try objects.traverse()
        case "W11": try objects.importUnique()
        case "W11s": try objects.importUnique("W11s")
        case "W11i": try objects.importObjects()
        case "W12": try objects.openAndFetch(started)
        case "W13": try MainActor.assumeIsolated { try objects.keepListCurrent() }
        case "W14": try AtlasWorkloads(store).all()
        case "W15": try YCSBWorkloads(store).all()
        case "W16": try ImportWorkloads(store).all()
        case "W17": try ImportWorkloads(store).fromPipe()
        case "text": try ImportWorkloads(store).writeText()
        case "W18": try MainActor.assumeIsolated { try ObserveWorkloads(store).all() }
        case "W18f": try MainActor.assumeIsolated { try FollowerWorkloads(store).all() }
        case "W13m": try MainActor.assumeIsolated { try objects.monitorList() }
        case "W19make": try MigrationWorkloads(store).make()
        case "W19light": try MigrationWorkloads(store).migrate("light")
        case "W19heavy": try MigrationWorkloads(store).migrate("heavy")
        case "W20": try CliffWorkloads(store).all()
        case "W21": try ClientWorkloads(store).all()
        case "W22make": try ConversionWorkloads(store).make()
        case _ where name.hasPrefix("W22to-"): try ConversionWorkloads(store).convert(to: String(name.dropFirst("W22to-".count)))
        case "W23": try SearchWorkloads(store).all()
        case "W23q": try SearchWorkloads(store).queriesOnly()
        case "M1": try objects.walkInBatches()
        case "M2": try objects.importStreamed()
        case "records": try RecordWorkloads(store.configuration("records"), store.out).all()
        case "end": try objects.checkEnd()
        default: return false
        }
        return true
    }
}
