import PolyStoreBackend

/// The commits that a subscribed context has not processed yet, in order, with a snapshot of each store as of the last of them. The context never
/// shows changes of a commit that it has not processed.
package final class CommitFeed: Sendable {
    /// The contents of a feed.
    struct Contents {
        var commits: [CommittedChanges] = []
        /// The snapshots by store index.
        var snapshots: [Int: SharedSnapshot] = [:]
        /// The indexes of stores with commits whose changes are not listed.
        var unknown: Set<Int> = []
        var byteCount = 0
    }

    /// The maximum number of bytes buffered for a context. Beyond it the changes are dropped, and the context compares its objects with the store.
    private static let byteLimit = 16 << 20
    /// The approximate overhead of a small change set in addition to its records.
    private static let bytesPerCommit = 4 << 10

    private let contents = Protected(Contents())
    /// A Boolean value that indicates whether the context is a view. All views are woken together and share snapshots.
    let isOfView: Bool
    /// A Boolean value that indicates whether the context moves after each commit.
    let isWoken: Bool
    /// Called on the writer's thread after each commit, and to wake the context without a commit.
    let wake: @Sendable () -> Void

    package init(wake: @escaping @Sendable () -> Void) {
        self.wake = wake
        (isOfView, isWoken) = (false, true)
    }

    /// Creates the feed of a view, or of a context that is not woken.
    init(isOfView: Bool) {
        (self.isOfView, isWoken) = (isOfView, isOfView)
        wake = {}
    }

    /// Appends commits with the snapshots that show them. The publisher wakes the context afterwards.
    /// - Parameter unknown: the index of a store with a commit whose changes are not listed.
    /// - Returns: the snapshots that are outdated now. The caller releases them without a lock.
    func add(_ commits: [CommittedChanges], unknown: Int? = nil, _ snapshots: [Int: SharedSnapshot]) -> [SharedSnapshot] {
        contents.withLock { contents in
            contents.commits += commits
            if let unknown { contents.unknown.insert(unknown) }
            contents.byteCount += commits.reduce(0) { $0 + $1.changes.byteCount + Self.bytesPerCommit }
            if contents.byteCount > Self.byteLimit {
                contents.unknown.formUnion(contents.commits.lazy.map(\.store.index))
                contents.commits = []
                contents.byteCount = 0
            }
            var outdated = snapshots.compactMap { contents.snapshots.updateValue($1, forKey: $0) }
            // A snapshot of before does not show these commits.
            func forget(_ index: Int) {
                if snapshots[index] == nil, let old = contents.snapshots.removeValue(forKey: index) { outdated.append(old) }
            }
            for commit in commits { forget(commit.store.index) }
            if let unknown { forget(unknown) }
            return outdated
        }
    }

    /// Removes and returns the contents. The caller releases the snapshots.
    func take() -> Contents {
        contents.withLock { contents in
            defer { contents = Contents() }
            return contents
        }
    }

    deinit { for snapshot in take().snapshots.values { snapshot.release() } }
}
