import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestSupport

/// A transaction that occupies the write queue while others queue up behind it.
struct QueueGate: Sendable {
    private let isOpen: Flag
    private let task: Task<Void, any Error>

    /// - Parameter body: The changes of the transaction, made after the gate is opened.
    init(_ stack: DataStack, _ body: @escaping @Sendable (Transaction) throws -> Void = { _ in }) async throws {
        let (isInside, isOpen) = (Mark(), Flag())
        self.isOpen = isOpen
        task = Task {
            try await stack.perform { transaction in
                isInside.set()
                isOpen.wait()
                try body(transaction)
            }
        }
        while !isInside.isSet { try await Task.sleep(for: .milliseconds(1)) }
    }

    func open() async throws {
        isOpen.raise()
        try await task.value
    }

    /// Starts transactions, and returns when they are queued in the order of the list.
    static func line(
        _ stack: DataStack, _ bodies: [@Sendable (Transaction) throws -> Void], durability: [Durability?] = []
    ) async throws -> [Task<Void, any Error>] {
        var tasks: [Task<Void, any Error>] = []
        for (index, body) in bodies.enumerated() {
            let level = index < durability.count ? durability[index] : nil
            tasks.append(Task { try await stack.perform(durability: level, body) })
            while stack.queuedTransactionCount <= index { try await Task.sleep(for: .milliseconds(1)) }
        }
        return tasks
    }
}

/// A flag that is set once.
final class Mark: @unchecked Sendable {  // accessed under the lock only
    private let lock = NSLock()
    private var value = false
    func set() { lock.withLock { value = true } }
    var isSet: Bool { lock.withLock { value } }
}
