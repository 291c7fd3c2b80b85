import Dispatch
import PolyStoreBackend

/// Says when to look for commits of others: soon after a file was written to, a few times more, as a commit can become visible a little after its bytes were
/// written, and once a second in any case.
final class CommitWatcher: @unchecked Sendable {  // everything mutable is touched on the queue only
    /// The pauses between looks after a write, in milliseconds. The first one also limits how often a stack that is written to all the time looks.
    private static let pauses = [5, 5, 10, 10, 10, 10, 15, 15, 20, 50, 100]

    private let queue = DispatchQueue(label: "polystore.external-commits", qos: .userInitiated)
    private let paths: @Sendable () -> [String]
    private let look: @Sendable () -> Void
    private var files: FileWatcher?
    private var fallback: (any DispatchSourceTimer)?
    /// How many looks there were since the last write.
    private var step = 0
    /// Of the look that is due; an earlier one no longer counts.
    private var generation = 0
    private var lastLook = DispatchTime(uptimeNanoseconds: 0)
    private var isStopped = false

    /// - Parameters:
    ///   - paths: the files that commits are written to; asked again now and then, as files come and go.
    ///   - look: called on a queue of the watcher's own.
    init(paths: @escaping @Sendable () -> [String], look: @escaping @Sendable () -> Void) {
        self.paths = paths
        self.look = look
    }

    /// Starts watching, or watches more files than before.
    func start() {
        queue.async { [self] in
            guard !isStopped else { return }
            if files == nil { files = FileWatcher(queue) { [weak self] in self?.didChange() } }
            files?.watch(paths())
            guard fallback == nil else { return }
            let timer = DispatchSource.makeTimerSource(queue: queue)
            timer.schedule(deadline: .now() + 1, repeating: 1, leeway: .milliseconds(100))
            timer.setEventHandler { [weak self] in
                guard let self, !isStopped else { return }
                files?.watch(paths())
                look()
            }
            timer.resume()
            fallback = timer
            // Something may have been written between the first version that was read and now.
            didChange()
        }
    }

    /// Stops for good.
    func stop() {
        queue.async { [self] in
            isStopped = true
            files?.stop()
            files = nil
            fallback?.cancel()
            fallback = nil
        }
    }

    private func didChange() {
        // What else is written until the next look is noticed by it.
        files?.pause()
        step = 0
        let elapsed = (DispatchTime.now().uptimeNanoseconds &- lastLook.uptimeNanoseconds) / 1_000_000
        lookAgain(after: max(0, Self.pauses[0] - Int(clamping: elapsed)))
    }

    private func lookAgain(after milliseconds: Int) {
        generation += 1
        queue.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [weak self, generation] in
            guard let self, !isStopped, self.generation == generation else { return }
            // What is written from here on is noticed again.
            files?.goOn()
            look()
            lastLook = .now()
            guard step < Self.pauses.count else { return }
            lookAgain(after: Self.pauses[step])
            step += 1
        }
    }
}
