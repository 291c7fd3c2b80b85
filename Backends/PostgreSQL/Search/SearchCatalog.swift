import PolyStoreBackend
import PolyStoreQuery

/// The values that a transaction reads at its beginning.
struct StoreState: Sendable {
    var version: UInt64
    /// The number of migrations, and above them the number of changes of the full-text indexes; see ``StoreTables/searchGeneration``.
    var generation: Int64 = 0
    /// A Boolean value that indicates whether the store has full-text indexes.
    var hasSearchIndexes = false
}

/// The full-text indexes of a store, as far as its transactions have read them.
///
/// The indexes of a generation do not change. A writer maintains all indexes of the store, also those that its model lacks.
final class SearchCatalog: Sendable {
    /// The indexes of a generation.
    struct Known: Sendable {
        let generation: Int64
        let indexes: [StoredSearchIndex]
    }

    private struct State {
        var newest: Int64
        var known: Known?
        /// The newest generation whose indexes the user may not read.
        var unreadable: Int64?
        /// The numbers of objects that this store object has added to indexes that were not complete, by their numbers.
        var built: [UInt32: Int] = [:]
    }
    private let state: Protected<State>

    /// - Parameter indexes: The indexes; nil if they must be read.
    init(_ generation: Int64, _ indexes: [StoredSearchIndex]?) {
        state = Protected(State(newest: generation, known: indexes.map { Known(generation: generation, indexes: $0) }))
    }

    /// The indexes of the newest generation that a transaction has read; nil if they have not been read.
    var newest: Known? { state.withLock { state in state.known.flatMap { $0.generation == state.newest ? $0 : nil } } }

    /// The number of objects that this store object has added to an index that was not complete.
    func builtCount(_ index: UInt32) -> Int { state.withLock { $0.built[index] ?? 0 } }
    func didBuild(_ index: UInt32, _ count: Int) { state.withLock { $0.built[index] = count } }

    /// Called with what a transaction reads at its beginning.
    func didSee(_ seen: StoreState) {
        state.withLock { state in
            guard seen.generation > state.newest else { return }
            state.newest = seen.generation
            if !seen.hasSearchIndexes { state.known = Known(generation: seen.generation, indexes: []) }
        }
    }

    /// Returns the indexes of a generation if they have been read.
    func indexes(of seen: StoreState) -> [StoredSearchIndex]? {
        if !seen.hasSearchIndexes { return [] }
        return state.withLock { state in state.known.flatMap { $0.generation == seen.generation ? $0.indexes : nil } }
    }

    /// Returns whether the user may not read the indexes of a generation, as a snapshot has found.
    ///
    /// Only snapshots ask: they search the texts then. A writer must maintain the indexes, and is refused.
    func isUnreadable(_ generation: Int64) -> Bool { state.withLock { $0.unreadable == generation } }
    func didFindUnreadable(_ generation: Int64) {
        state.withLock { state in
            guard state.unreadable.map({ $0 < generation }) ?? true else { return }
            state.unreadable = generation
            state.newest = max(state.newest, generation)
        }
    }

    /// Keeps the indexes of a generation.
    func keep(_ indexes: [StoredSearchIndex], of generation: Int64) {
        state.withLock { state in
            guard state.known.map({ $0.generation < generation }) ?? true else { return }
            state.known = Known(generation: generation, indexes: indexes)
            state.newest = max(state.newest, generation)
        }
    }
}
