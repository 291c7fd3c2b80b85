import PolyStoreRuns

extension DataStack {
    /// The open snapshots, oldest first: those of contexts that have read, and of unqueued transactions. A context whose sessions were given back is not among them; see
    /// ``snapshotIdleTime``.
    public var openSnapshots: [OpenSnapshot] { core.snapshots.all }

    /// The time that a snapshot may be outdated before a warning with its source location is logged. The default is 30 seconds.
    public var snapshotWarningAge: Duration {
        get { core.snapshots.limit }
        set { core.snapshots.limit = newValue }
    }

    /// The time after which a view or context that is not being read gives the session of its snapshot back to a server. The default is 10 seconds.
    ///
    /// Concerns stores with the feature `shortSnapshots` only. A session is given back earlier if others need it; see `Capabilities.mostSnapshots`. The next access
    /// begins a new snapshot. If the store was changed meanwhile, the context moves as a whole before that access, as after a commit: objects have the new values, deleted
    /// ones set `isDeleted`, and monitors notify their observers. The snapshot of a ``SnapshotContext`` or of an unqueued transaction is kept until its end.
    public var snapshotIdleTime: Duration {
        get { core.sessions.idleTime }
        set { core.sessions.idleTime = newValue }
    }
}
