import Foundation
import PolyStoreBackend

/// Records the current operation of each worker, and ends the program when no worker makes progress.
final class Watchdog: Sendable {
    private struct Worker {
        let name: String
        /// The current operation, or nil between two operations.
        var doing: String?
        var since = ContinuousClock.now
        var done = 0
    }

    private struct State {
        var workers: [Worker] = []
        var done = 0
        var isOver = false
    }

    private let state = Protected(State())
    private let patience: Double

    /// - Parameter patience: The seconds without progress after which the program ends.
    init(patience: Double = 30) {
        self.patience = patience
        let thread = Thread { [self] in watch() }
        thread.name = "watchdog"
        thread.start()
    }

    func enroll(_ name: String) -> Int {
        state.withLock { state in
            state.workers.append(Worker(name: name))
            return state.workers.count - 1
        }
    }

    func begins(_ worker: Int, _ what: String) {
        state.withLock { state in
            state.workers[worker].doing = what
            state.workers[worker].since = ContinuousClock.now
        }
    }

    func ends(_ worker: Int) {
        state.withLock { state in
            state.workers[worker].doing = nil
            state.workers[worker].since = ContinuousClock.now
            state.workers[worker].done += 1
            state.done += 1
        }
    }

    func isOver() { state.withLock { $0.isOver = true } }

    var done: Int { state.withLock { $0.done } }
    /// The number of workers that have not completed any operation.
    var idle: Int { state.withLock { $0.workers.count { $0.done == 0 } } }

    private func watch() {
        var (seen, quiet) = (0, 0.0)
        while true {
            Thread.sleep(forTimeInterval: 0.5)
            let (done, isOver, longest) = state.withLock { state in
                (state.done, state.isOver, state.workers.lazy.filter { $0.doing != nil }.map(\.since).min() ?? .now)
            }
            if isOver { return }
            quiet = done == seen ? quiet + 0.5 : 0
            seen = done
            if quiet >= patience { tell("nothing was done for \(Int(patience)) s") }
            // Other workers may make progress while one is stuck.
            if ContinuousClock.now - longest > .seconds(3 * patience) { tell("an operation has taken \(Int(3 * patience)) s") }
        }
    }

    private func tell(_ what: String) -> Never {
        let workers = state.withLock { $0.workers }
        let now = ContinuousClock.now
        var text = what + "\n"
        for worker in workers {
            let seconds = (now - worker.since).components.seconds
            text += "  \(worker.name): \(worker.doing ?? "between operations") for \(seconds) s, \(worker.done) done\n"
        }
        FileHandle.standardError.write(Data(text.utf8))
        showStacks()
        fail("given up", code: 3)
    }

    /// Prints the stacks with gdb if it is installed, otherwise the kernel function that each thread waits in.
    private func showStacks() {
        let script = """
            if command -v gdb >/dev/null; then gdb -p \(getpid()) -batch -ex 'thread apply all bt 12' 2>/dev/null
            else for t in /proc/\(getpid())/task/*; do echo "$(cat $t/comm) $(cat $t/wchan 2>/dev/null) $(grep State $t/status)"; done; fi >&2
            """
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", script]
        do {
            try process.run()
            process.waitUntilExit()
        } catch { FileHandle.standardError.write(Data("the stacks cannot be shown: \(error)\n".utf8)) }
    }
}

/// Runs workers, each on a thread or as a task, until a deadline. The first failure ends the program.
struct Crew: Sendable {
    let watchdog: Watchdog
    let end: ContinuousClock.Instant

    var isOver: Bool { ContinuousClock.now >= end }

    /// - Parameter body: Runs one operation. Its argument is the number of the worker.
    func thread(_ name: String, _ body: @escaping @Sendable (Int) throws -> Void) -> Task<Void, Never> {
        let worker = watchdog.enroll(name)
        return Task {
            await withCheckedContinuation { continuation in
                let thread = Thread {
                    while !isOver { attempt(name) { try body(worker) } }
                    continuation.resume()
                }
                thread.stackSize = 1 << 20
                thread.name = name
                thread.start()
            }
        }
    }

    func task(_ name: String, _ body: @escaping @Sendable (Int) async throws -> Void) -> Task<Void, Never> {
        let worker = watchdog.enroll(name)
        return Task.detached {
            while !isOver {
                do { try await body(worker) } catch { fail("\(name): \(error)") }
                watchdog.ends(worker)
            }
        }
    }

    private func attempt(_ name: String, _ body: () throws -> Void) {
        do { try body() } catch { fail("\(name): \(error)") }
    }
}
