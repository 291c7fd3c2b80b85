/// The numbers of a stack's running and waiting reads.
public struct StackStatistics: Sendable, Hashable, Codable {
    /// The number of reads that run on the threads of the stack. It exceeds ``maximumConcurrentReads`` while reads are nested in others.
    public let runningReads: Int
    /// The number of reads that wait for their turn.
    public let waitingReads: Int
    /// The maximum number of reads that run concurrently; see ``DataStack/maximumConcurrentReads``.
    public let maximumConcurrentReads: Int
}

extension StackStatistics: CustomStringConvertible {
    /// The statistics as text.
    public var description: String { "\(runningReads) of \(maximumConcurrentReads) reads running, \(waitingReads) waiting" }
}

extension DataStack {
    /// The maximum number of reads that run concurrently on the threads of the stack; 64 by default. Other reads wait in FIFO order. A value below 1 counts as 1.
    ///
    /// It applies to ``read(timeLimit:file:line:_:)``, ``history(since:matching:limit:file:line:)`` and its relatives, ``export(_:to:options:file:line:)-(S,_,_,_,_)``,
    /// ``ViewContext/loadListMonitor(_:sectionBy:)``, and the queries of `DataStack.values(of:)`. Each of them blocks a thread while it reads, and holds a
    /// snapshot of each store. The forms that block the caller's thread, such as ``readAndWait(timeLimit:file:line:_:)``, are not counted.
    ///
    /// A read that the body of another one starts does not wait, because the body may wait for it.
    public var maximumConcurrentReads: Int {
        get { core.readerThreads.limit }
        set { core.readerThreads.limit = newValue }
    }

    /// The numbers of running and waiting reads. Does not read the stores; see ``PersistentStore/statistics()`` for the statistics of a store.
    public var statistics: StackStatistics {
        let counts = core.readerThreads.counts
        return StackStatistics(runningReads: counts.running, waitingReads: counts.waiting, maximumConcurrentReads: counts.limit)
    }
}
