import PolyStoreBackend
import PolyStoreKernel
import PolyStoreQuery
import PolyStoreRuns

/// The value of a query, computed again after each commit that may change it.
///
/// The query runs on a thread of the stack, in its own snapshot. Commits during a run cause at most one further run. Does not retain
/// the stack or its stores.
final class ObservedValue<Value: Sendable>: Sendable {
    fileprivate struct State {
        var dependencies = RequestDependencies()
        var isRunning = true
        /// The commits since the snapshot of the current run may have begun.
        var missed = CommitFootprint()
        var observer: Int?
        var storeObserver: Int?
    }

    private let query: @Sendable (SnapshotContext) throws -> Value
    private let site: CallSite
    private let handoff: Handoff<Value>
    private let state = Protected(State())
    private let core: WeakReference<StackCore>

    init(
        _ core: StackCore, _ site: CallSite, _ handoff: Handoff<Value>, _ query: @escaping @Sendable (SnapshotContext) throws -> Value
    ) {
        self.core = WeakReference(core)
        self.site = site
        self.handoff = handoff
        self.query = query
    }

    /// Starts observing commits and runs the query for the first time.
    func start() {
        guard let core = core.object else { return handoff.finish() }
        // Observation starts before the first snapshot, so that no commit in between is missed.
        let observer = core.commitSequencer.observe(
            { [weak self] commit in self?.consider { $0.add(commit) } }, end: { [handoff] in handoff.finish() })
        let storeObserver = core.storeAdditions.add { [weak self] in self?.consider { $0.isUnknown = true } }
        state.withLock { ($0.observer, $0.storeObserver) = (observer, storeObserver) }
        run(core)
    }

    func end() {
        stopObserving()
        handoff.discard()
    }

    private func stopObserving() {
        let (observer, storeObserver) = state.withLock { state in
            defer { (state.observer, state.storeObserver) = (nil, nil) }
            return (state.observer, state.storeObserver)
        }
        if let observer { core.object?.publisher.removeObserver(observer) }
        if let storeObserver { core.object?.storeAdditions.remove(storeObserver) }
    }

    /// Runs the query if a change may affect its result.
    private func consider(_ change: (inout CommitFootprint) -> Void) {
        let mustRun = state.withLock { state in
            change(&state.missed)
            guard !state.isRunning else { return false }
            return state.beginIfTouched()
        }
        if mustRun, let core = core.object { run(core) }
    }

    private func run(_ core: StackCore) {
        core.onReaderThread { [weak self] in self?.runNow(core) }
    }

    private func runNow(_ core: StackCore) {
        let generation = core.table.withLock { $0.generation }
        do {
            let (value, dependencies) = try core.readNow(site) { context in
                let watcher = DependencyWatcher(context.watcher)
                context.watcher = watcher
                return (try query(context), watcher.dependencies)
            }
            handoff.replace(with: value)
            let mustRun = state.withLock { state in
                state.dependencies = dependencies
                state.isRunning = false
                return state.beginIfTouched()
            }
            if mustRun, !handoff.isFinished { run(core) }
        } catch {
            // A store was removed during the run. The next run reads the others.
            if core.isCausedByRemoval(error), core.table.withLock({ $0.generation }) != generation, !handoff.isFinished { return run(core) }
            // The consumer gets the error when it awaits the next value, which may be later.
            handoff.finish(throwing: error)
            stopObserving()
        }
    }
}

extension ObservedValue.State {
    /// Begins another run if the missed commits may change the value.
    fileprivate mutating func beginIfTouched() -> Bool {
        isRunning = dependencies.isTouched(by: missed)
        missed = CommitFootprint()
        return isRunning
    }
}

/// Records the dependencies of the requests of a context.
final class DependencyWatcher: ReadWatcher {
    private(set) var dependencies = RequestDependencies()
    private let outer: (any ReadWatcher)?

    /// - Parameter outer: The previous watcher of the context.
    init(_ outer: (any ReadWatcher)?) { self.outer = outer }

    func watched(_ transaction: any ReadTransaction, of store: PersistentStore) -> any ReadTransaction {
        WatchedTransaction(outer?.watched(transaction, of: store) ?? transaction) { [self] request, _ in
            dependencies.add(request, in: store)
        }
    }
}
