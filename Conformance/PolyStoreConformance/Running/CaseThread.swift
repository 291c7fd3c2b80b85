import Foundation

/// Starts threads for blocking work.
enum CaseThread {
    static func start(_ body: @escaping @Sendable () -> Void) {
        let thread = Thread { body() }
        thread.stackSize = 8 << 20
        thread.start()
    }
}
