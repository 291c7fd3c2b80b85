import Dispatch
import PolyStoreBackend

/// The sessions that the snapshots of a stack hold on servers whose backends have the feature `Capabilities.Feature.shortSnapshots`.
///
/// A session that no reader keeps is given back after an idle time, or before another one begins that would exceed the limit of its backend, the least recently used one
/// first. The snapshots of such sessions are begun again by their contexts.
package final class SnapshotSessions: Sendable {
    private struct State {
        /// The sessions that hold a snapshot.
        var open: [ObjectIdentifier: SnapshotSession] = [:]
        /// The number of open sessions and of those that begin, by backend.
        var counts: [ObjectIdentifier: Int] = [:]
        /// The number of sessions that each backend can have open, if it is limited.
        var limits: [ObjectIdentifier: Int] = [:]
        /// In nanoseconds; `UInt64.max` for no limit.
        var idleTime: UInt64 = 10_000_000_000
        /// A Boolean value that indicates whether the next check for idle sessions is scheduled.
        var isScheduled = false
        var lastUse: UInt64 = 0

        /// Returns the session of a backend that was used least recently, without those that readers keep; nil if there is none.
        func leastRecent(of backend: ObjectIdentifier) -> SnapshotSession? {
            open.values.filter { $0.backend == backend && $0.content.keepers == 0 }.min { $0.content.use < $1.content.use }
        }

        /// Returns whether more sessions of a backend are open or begin than it can have open.
        func exceedsLimit(_ backend: ObjectIdentifier) -> Bool { limits[backend].map { counts[backend, default: 0] > $0 } ?? false }

        /// Takes the snapshot from a session, which the caller ends without the lock.
        mutating func take(_ session: SnapshotSession) -> GivenBack? {
            guard let reader = session.content.reader.take() else { return nil }
            open[ObjectIdentifier(session)] = nil
            counts[session.backend, default: 0] -= 1
            return GivenBack(session: session, reader: reader)
        }
    }

    /// A session with the snapshot that was taken from it.
    fileprivate struct GivenBack {
        let session: SnapshotSession
        let reader: any ReadTransaction
    }

    private let state = Protected(State())
    private let queue = DispatchQueue(label: "polystore.sessions", qos: .utility)
    /// The time in nanoseconds. Tests replace it.
    package let clock = ReplaceableClock { DispatchTime.now().uptimeNanoseconds }

    package init() {}

    private var now: UInt64 { clock.now }

    /// The number of open sessions.
    package var openCount: Int { state.withLock { $0.open.count } }

    /// The time after which a session that is not being read is given back; zero to give it back after each read.
    package var idleTime: Duration {
        get { state.withLock { .nanoseconds(Int64(clamping: $0.idleTime)) } }
        set {
            let (seconds, attoseconds) = newValue.components
            let nanoseconds = Double(seconds) * 1e9 + Double(attoseconds) / 1e9
            state.withLock { $0.idleTime = nanoseconds >= 9e18 ? .max : UInt64(max(0, nanoseconds)) }
            giveBackIdle()
        }
    }

    // MARK: Beginning

    /// Begins a session, which the caller keeps. Gives idle ones of the backend back first if there would be too many.
    /// - Parameters:
    ///   - backend: The identity of the backend.
    ///   - most: The number of sessions that the backend can have open.
    ///   - mayWait: A Boolean value that indicates whether the session begins although it exceeds the limit, because readers keep all others. The backend then waits or
    ///     refuses it.
    ///   - didRead: Called when the version of the snapshot is known.
    ///   - begin: Begins the snapshot.
    /// - Throws: `busy` if the session would have to wait for others and must not, and the errors of `begin`.
    func begin(
        _ backend: ObjectIdentifier, most: Int?, mayWait: Bool, didRead: @escaping @Sendable (UInt64) -> Void,
        _ begin: () throws -> any ReadTransaction
    ) throws -> SnapshotSession {
        let (excess, isRefused) = state.withLock { state -> ([GivenBack], Bool) in
            state.limits[backend] = most.map { max(1, $0) }
            state.counts[backend, default: 0] += 1
            var taken: [GivenBack] = []
            while state.exceedsLimit(backend), let idle = state.leastRecent(of: backend), let excess = state.take(idle) {
                taken.append(excess)
            }
            let isRefused = !mayWait && state.exceedsLimit(backend)
            if isRefused { state.counts[backend, default: 0] -= 1 }
            return (taken, isRefused)
        }
        for session in excess { end(session) }
        if isRefused { throw StoreError(.busy, "Readers keep all sessions that the server has.") }
        let reader: any ReadTransaction
        do { reader = try begin() } catch {
            state.withLock { $0.counts[backend, default: 0] -= 1 }
            throw error
        }
        let session = SnapshotSession(self, backend, reader, isLimited: most != nil, didRead)
        state.withLock { $0.open[ObjectIdentifier(session)] = session }
        return session
    }

    private func end(_ session: GivenBack) {
        // The context must know later what it has shown.
        if session.session.version == nil, let version = try? session.reader.version { session.session.didRead(version) }
        session.reader.end()
    }

    // MARK: Readers

    /// Keeps a session open. The caller releases it afterwards.
    /// - Parameter isKept: Whether the session is kept only if another reader keeps it.
    /// - Returns: The snapshot; nil if the session was given back or its connection was lost.
    fileprivate func keep(_ session: SnapshotSession, ifKept isKept: Bool = false) -> (any ReadTransaction)? {
        state.withLock { _ in
            guard let reader = session.content.reader, !session.content.isLost, !isKept || session.content.keepers > 0 else { return nil }
            session.content.keepers += 1
            return reader
        }
    }

    fileprivate func release(_ session: SnapshotSession) {
        let now = now
        let (idle, delay): (GivenBack?, UInt64?) = state.withLock { state in
            session.content.keepers -= 1
            state.lastUse += 1
            (session.content.use, session.content.time) = (state.lastUse, now)
            guard session.content.keepers == 0, session.content.reader != nil else { return (nil, nil) }
            if session.content.isLost || state.idleTime == 0 || state.exceedsLimit(session.backend) { return (state.take(session), nil) }
            guard !state.isScheduled, state.idleTime < .max else { return (nil, nil) }
            state.isScheduled = true
            return (nil, state.idleTime)
        }
        if let idle { end(idle) }
        if let delay { schedule(after: delay) }
    }

    /// Moves the snapshot of another session into one that was given back, whose version it has, and keeps that one.
    /// - Returns: A Boolean value that is false if the session cannot continue. The other one is unmodified then.
    fileprivate func adopt(_ other: SnapshotSession, in session: SnapshotSession) -> Bool {
        state.withLock { state in
            guard !session.content.hasEnded else { return false }
            if session.content.reader == nil {
                session.content.reader = other.content.reader.take()
                session.content.isLost = false
                state.open[ObjectIdentifier(other)] = nil
                state.open[ObjectIdentifier(session)] = session
            } else if session.content.isLost {
                return false
            }
            // Otherwise another context that shares the session has begun it again.
            session.content.keepers += 1
            return true
        }
    }

    fileprivate func end(_ session: SnapshotSession) {
        let ended = state.withLock { state in
            session.content.hasEnded = true
            return state.take(session)
        }
        ended?.reader.end()
    }

    fileprivate func read<T>(_ session: SnapshotSession, _ body: (inout SnapshotSession.Content) -> T) -> T {
        state.withLock { _ in body(&session.content) }
    }

    // MARK: Idle sessions

    private func schedule(after delay: UInt64) {
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(clamping: delay))) { [weak self] in self?.giveBackIdle() }
    }

    /// Gives the sessions back that were not read for the idle time, and schedules the next check if others are open.
    package func giveBackIdle() {
        let now = now
        let (idle, delay): ([GivenBack], UInt64?) = state.withLock { state in
            var (idle, next): ([GivenBack], UInt64?) = ([], nil)
            for session in state.open.values where session.content.keepers == 0 {
                let age = now > session.content.time ? now - session.content.time : 0
                if age >= state.idleTime {
                    if let taken = state.take(session) { idle.append(taken) }
                } else {
                    next = min(next ?? .max, state.idleTime - age)
                }
            }
            state.isScheduled = next != nil && state.idleTime < .max
            return (idle, state.isScheduled ? next : nil)
        }
        for session in idle { end(session) }
        if let delay { schedule(after: delay) }
    }
}

/// A session of a snapshot on a server. A reader keeps it while it reads; it can be given back by any thread while nothing keeps it.
package final class SnapshotSession: @unchecked Sendable {  // `content` is accessed under the lock of `sessions` only
    /// The state that the lock of the sessions protects.
    fileprivate struct Content {
        /// The snapshot; nil if the session was given back or has ended.
        var reader: (any ReadTransaction)?
        /// The number of readers that keep the session. The one that begins it is the first.
        var keepers = 1
        /// The number of the last use in the order of all uses, and its time.
        var use: UInt64 = 0
        var time: UInt64 = 0
        /// The version of the snapshot; nil if it is not known.
        var version: UInt64?
        /// A Boolean value that indicates whether the connection was lost.
        var isLost = false
        var hasEnded = false
    }

    fileprivate var content: Content
    fileprivate let backend: ObjectIdentifier
    /// A Boolean value that indicates whether the number of open sessions of the backend is limited.
    package let isLimited: Bool
    private let sessions: SnapshotSessions
    private let didReadVersion: @Sendable (UInt64) -> Void

    fileprivate init(
        _ sessions: SnapshotSessions, _ backend: ObjectIdentifier, _ reader: any ReadTransaction, isLimited: Bool,
        _ didRead: @escaping @Sendable (UInt64) -> Void
    ) {
        (self.sessions, self.backend, self.isLimited, didReadVersion) = (sessions, backend, isLimited, didRead)
        content = Content(reader: reader)
    }

    /// A Boolean value that indicates whether the session holds a snapshot on the server.
    package var isOpen: Bool { sessions.read(self) { $0.reader != nil } }

    /// The version of the snapshot; nil if no request has read it.
    package var version: UInt64? { sessions.read(self) { $0.version } }

    /// Called when the version of the snapshot is known.
    func didRead(_ version: UInt64) {
        sessions.read(self) { $0.version = version }
        didReadVersion(version)
    }

    /// Keeps the session open until ``release()`` is called.
    /// - Returns: A Boolean value that is false if the session was given back or its connection was lost. It is not to be released then.
    package func keep() -> Bool { sessions.keep(self) != nil }

    /// Called once for each ``keep()``, and for the begin of the session.
    package func release() { sessions.release(self) }

    /// Takes the snapshot of a new session of the same version, after this one was given back, and keeps it as by ``keep()``. The caller ends the other session.
    /// - Returns: A Boolean value that is false if the session cannot continue. The other one can be used then.
    package func adopt(_ other: SnapshotSession) -> Bool { sessions.adopt(other, in: self) }

    func end() { sessions.end(self) }

    /// Calls a body with the snapshot if a reader keeps it.
    /// - Returns: The result of the body; nil if nothing keeps the session.
    func ifKept<T>(_ body: (any ReadTransaction) -> T) -> T? {
        guard let reader = sessions.keep(self, ifKept: true) else { return nil }
        defer { release() }
        return body(reader)
    }

    /// Reads the snapshot. The session is kept meanwhile.
    /// - Throws: `closed` after its end, an error with the recovery `connectionLost` if the session was given back, and the errors of the body.
    func reading<T>(_ body: (any ReadTransaction) throws -> T) throws -> T {
        guard let reader = sessions.keep(self) else {
            if sessions.read(self, \.hasEnded) { throw StoreError(.closed, "The read transaction has ended.") }
            throw StoreError(.io, "The session of the snapshot has ended. Read again.", recovery: .connectionLost)
        }
        defer { release() }
        return try watching {
            let result = try body(reader)
            // A server sends the version with the response to the first read.
            if version == nil { didRead(try reader.version) }
            return result
        }
    }

    /// Calls a body that reads the snapshot, and remembers that its connection was lost.
    fileprivate func watching<T>(_ body: () throws -> T) throws -> T {
        do { return try body() } catch let error as StoreError where error.recovery == .connectionLost {
            sessions.read(self) { $0.isLost = true }
            throw error
        }
    }
}

/// The rows of a snapshot whose session is kept until they are read.
final class SessionCursor: RecordCursor {
    private let inner: RecordCursor
    private var session: SnapshotSession?

    /// - Parameter session: Keeps the session for the cursor if it can; the caller reads it at the moment.
    init(_ inner: RecordCursor, layout: RecordLayout, _ session: SnapshotSession) {
        self.inner = inner
        self.session = session.keep() ? session : nil
        super.init(layout: layout)
    }

    override var rowsExamined: Int { inner.rowsExamined }

    override func next() throws -> Bool {
        guard try session?.watching(inner.next) ?? inner.next() else { return false }
        setCurrent(inner.rowID, inner.record)
        return true
    }

    override func close() {
        inner.close()
        session.take()?.release()
    }

    deinit { close() }
}
