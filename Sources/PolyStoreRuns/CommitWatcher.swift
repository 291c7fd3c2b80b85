import Dispatch
import PolyStorePlatform

/// Schedules checks for external commits: shortly after a file was written, several more times because a commit can become visible after its bytes were
/// written, once after a backend has announced a commit, and at least once a second.
package final class CommitWatcher: @unchecked Sendable {  // mutable state is accessed only on the queue
    /// The delays between checks after a write, in milliseconds. The first one also limits the rate of checks on a store that is written continuously.
    private static let pauses = [5, 5, 10, 10, 10, 10, 15, 15, 20, 50, 100]

    private let queue = DispatchQueue(label: "polystore.external-commits", qos: .userInitiated)
    private let paths: @Sendable () -> [String]
    private let announcements: @Sendable (@escaping @Sendable () -> Void) -> [any AnyObject & Sendable]
    private let look: @Sendable () -> Void
    /// The seconds between the checks that depend on no event.
    private let interval: Int
    /// The objects through which the backends announce commits. The announcements stop when these objects are released.
    private var announcers: [any AnyObject & Sendable] = []
    private var files: FileWatcher?
    private var fallback: (any DispatchSourceTimer)?
    /// The number of checks since the last write.
    private var step = 0
    /// The generation of the scheduled check; checks of earlier generations are ignored.
    private var generation = 0
    private var lastLook = DispatchTime(uptimeNanoseconds: 0)
    private var isStopped = false

    /// - Parameters:
    ///   - paths: Returns the files that commits write to. Called repeatedly because files are created and removed.
    ///   - announcements: Makes the backends call a handler after commits, until the returned objects are released.
    ///   - interval: The seconds between the checks that depend on no event.
    ///   - look: Checks for commits. Called on the watcher's own queue.
    package init(
        interval: Int = 1, paths: @escaping @Sendable () -> [String],
        announcements: @escaping @Sendable (@escaping @Sendable () -> Void) -> [any AnyObject & Sendable] = { _ in [] },
        look: @escaping @Sendable () -> Void
    ) {
        self.interval = interval
        self.announcements = announcements
        self.paths = paths
        self.look = look
    }

    /// Starts watching, or watches additional files.
    package func start() {
        queue.async { [self] in
            guard !isStopped else { return }
            if files == nil { files = FileWatcher(queue) { [weak self] in self?.didChange() } }
            files?.watch(paths())
            let replaced = announcers
            announcers = announcements { [weak self] in self?.didAnnounce() }
            withExtendedLifetime(replaced) {}
            guard fallback == nil else { return }
            let timer = DispatchSource.makeTimerSource(queue: queue)
            timer.schedule(deadline: .now() + .seconds(interval), repeating: .seconds(interval), leeway: .milliseconds(100))
            timer.setEventHandler { [weak self] in
                guard let self, !isStopped else { return }
                files?.watch(paths())
                look()
            }
            timer.resume()
            fallback = timer
            // Commits may have occurred between the first read of the version and now.
            didChange()
        }
    }

    /// Stops permanently.
    package func stop() {
        queue.async { [self] in
            isStopped = true
            files?.stop()
            files = nil
            announcers = []
            fallback?.cancel()
            fallback = nil
        }
    }

    /// Called by a backend on any thread. One check suffices, because an announced commit is visible.
    private func didAnnounce() {
        queue.async { [weak self] in
            guard let self, !isStopped else { return }
            if step < Self.pauses.count { didChange() } else { lookAgain(after: delay) }
        }
    }

    /// The milliseconds until the next check, which limit the rate of checks.
    private var delay: Int {
        max(0, Self.pauses[0] - Int(clamping: (DispatchTime.now().uptimeNanoseconds &- lastLook.uptimeNanoseconds) / 1_000_000))
    }

    private func didChange() {
        // The next check covers writes that occur before it.
        files?.pause()
        step = 0
        lookAgain(after: delay)
    }

    private func lookAgain(after milliseconds: Int) {
        generation += 1
        queue.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [weak self, generation] in
            guard let self, !isStopped, self.generation == generation else { return }
            // Writes that occur from here on trigger events again.
            files?.goOn()
            look()
            lastLook = .now()
            guard step < Self.pauses.count else { return }
            lookAgain(after: Self.pauses[step])
            step += 1
        }
    }
}
