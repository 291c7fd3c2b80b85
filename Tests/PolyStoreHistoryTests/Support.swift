import HistoryTestSupport
import PolyStore
import PolyStoreBackend
import SmallStores
import TestSupport
import Testing

extension Backend {
    func configuration(_ path: String, mapSize: Int = 1 << 20) throws -> StoreConfiguration {
        try #require(SmallStores.configuration(rawValue, path, mapSize: mapSize)).durability(.relaxed)
    }

    func stack(
        _ folder: Folder, history: HistoryOptions? = HistoryOptions(), logger: any StoreLogger = StandardErrorLogger(),
        mapSize: Int = 1 << 20
    ) throws -> DataStack {
        let stack = try DataStack(HistoryModels.schema(), logger: logger)
        try stack.addStore(try configuration(folder.file(), mapSize: mapSize), history: history)
        return stack
    }
}

/// Returns an entry as one line: `+Person 1, 2; ~Person 1 age name; -Team 1`.
func summary(_ entry: HistoryEntry) -> String {
    let signs: [HistoryChange.Kind: String] = [.inserted: "+", .updated: "~", .deleted: "-"]
    return entry.changes.map { change in
        let keys = change.changedKeys.sorted().map { " \($0)" }.joined()
        return "\(signs[change.kind] ?? "?")\(change.entityName) \(change.rowID)\(keys)"
    }.sorted().joined(separator: "; ")
}

extension History {
    var summary: [String] { map { PolyStoreHistoryTests.summary($0) } }
}
