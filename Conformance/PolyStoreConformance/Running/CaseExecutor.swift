import Foundation

/// Runs each job on a new thread, so that the bodies of cases can block indefinitely.
final class CaseExecutor: TaskExecutor {
    static let shared = CaseExecutor()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let thread = Thread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        thread.stackSize = 8 << 20
        thread.start()
    }
}
