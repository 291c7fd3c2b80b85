import BrowserData
import Foundation
import PolyStoreBackend
import PolyStoreCore
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStorePostgreSQL
import PolyStoreSQLite

/// `browser-measurement fill URL COUNT` creates a store, `browser-measurement run URL` measures the answers of the browser on it. `run.py` does both for each engine.
@main enum Program {
    static func main() async throws {
        let arguments = CommandLine.arguments
        let engines = StoreEngines([.sqlite, .lmdb, .levelDB, .postgreSQL])
        switch arguments.count > 2 ? arguments[1] : "" {
        case "fill":
            try MeasuredStore.fill(
                engines.configuration(arguments[2]), cities: arguments.count > 3 ? Int(arguments[3]) ?? 1_000_000 : 1_000_000)
        case "run": try await Measurement(store: BrowserStore(opening: engines.configuration(arguments[2]))).run()
        default: print("browser-measurement fill URL [COUNT] | browser-measurement run URL")
        }
    }
}
