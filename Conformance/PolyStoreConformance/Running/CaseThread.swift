import Foundation

/// Threads for what may block.
enum CaseThread {
    static func start(_ body: @escaping @Sendable () -> Void) {
        let thread = Thread { body() }
        thread.stackSize = 8 << 20
        thread.start()
    }
}
