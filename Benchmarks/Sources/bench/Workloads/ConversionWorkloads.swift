import Foundation
import PeerKit
import PolyStoreBackend
import PolyStoreCore
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStoreSQLite

/// W22: the conversion of a store of contacts to another backend, in a process of its own for each part.
///
/// - `W22make` creates the store
/// - `W22to-ENGINE` converts it to a store of an engine, such as `W22to-lmdb`
struct ConversionWorkloads {
    private let store: BenchStore

    init(_ store: BenchStore) { self.store = store }

    func make() throws {
        try store.remove("converted")
        try MigrationWorkloads(store).fill(
            store.configuration("converted"),
            ResolvedSchema(SchemaDescription(name: "W22", entities: Schema("W22", Contact.self).locked.entities)))
    }

    func convert(to engine: String) throws {
        let target = BenchStore(engine: engine, folder: store.folder)
        try target.remove("converted")
        let conversion = try StoreConversion(from: store.configuration("converted"), to: target.configuration("converted"))
        let start = Stamp()
        let report = try conversion.runAndWait()
        let end = Stamp()
        precondition(report.objectCount == PB.n && report.source == report.target, "\(report)")
        store.out.emit("W22to-\(engine)", PB.n, start, end, note: "\(Memory().anonymous) KiB anonymous")
    }
}
