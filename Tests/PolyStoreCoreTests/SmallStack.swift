import Foundation
import Testing

/// Runs a closure on a thread with a stack of 512 KiB, the smallest default of a supported platform, and waits. Records the error that it throws.
func onSmallStack(_ body: @escaping @Sendable () throws -> Void) {
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
        do { try body() } catch { Issue.record("\(error)") }
        done.signal()
    }
    thread.stackSize = 512 << 10
    thread.start()
    done.wait()
}
