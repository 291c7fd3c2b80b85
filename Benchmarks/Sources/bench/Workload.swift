import PeerKit

/// What can be measured.
enum Workload: String, CaseIterable {
    /// Makes the store with all persons; not a measurement.
    case prepare
    case W1, W2, W3, W4, W5, W6, W7, W8, W8b, W8c, W9, W10, W11, W12, W13
    case W14, W15
    case M1, M2
    /// W1r to W6r: the same on records, without objects.
    case records
    /// A check over everything in the store, after the changes.
    case end

    /// Several in one process, one after another, as the peers do them.
    static let groups: [String: [Workload]] = [
        "load": [.W1] + reads,
        "read": reads,
        "mutate": [.W7, .W9, .W11, .W8, .W8b, .end],
        "open": [.W12],
    ]
    private static let reads: [Workload] = [.W2, .W3, .W4, .W5, .W6, .W10]

    func run(_ store: BenchStore, _ started: Stamp) async throws {
        let objects = ObjectWorkloads(store)
        switch self {
        case .prepare: _ = try store.stack()
        case .W1: try objects.insert()
        case .W2: try objects.fetchAll()
        case .W3: try objects.getByID()
        case .W4: try objects.ranges()
        case .W5: try objects.countByFilter()
        case .W6: try objects.group()
        case .W7: try objects.update()
        case .W8: try objects.commitDurably()
        case .W8b: try objects.commitRelaxed()
        case .W8c: try await objects.commitConcurrently()
        case .W9: try objects.delete()
        case .W10: try objects.traverse()
        case .W11: try objects.importUnique()
        case .W12: try objects.openAndFetch(started)
        case .W13: try await objects.keepListCurrent()
        case .W14: try AtlasWorkloads(store).all()
        case .W15: try YCSBWorkloads(store).all()
        case .M1: try objects.walkInBatches()
        case .M2: try objects.importStreamed()
        case .records: try RecordWorkloads(store.configuration("records"), store.out).all()
        case .end: try objects.checkEnd()
        }
    }
}
