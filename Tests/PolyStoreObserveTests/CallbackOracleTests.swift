import Foundation
import PolyStore
import TestSupport
import Testing

/// Random actions in random callbacks: commits, refetches, refreshes, observers, monitors, and changes of unqueued transactions. When all callbacks have
/// returned, every observer has received every change once, in order, and every monitor equals a fetch.
@MainActor
@Suite(.serialized) struct CallbackOracleTests {
    /// The number of commits for each backend.
    static let commits = TestEnvironment.number("POLYSTORE_CALLBACK_COMMITS") ?? Ring.size(120, thorough: 5_000)
    /// The first of them, to run a part of a large number.
    static let first = TestEnvironment.number("POLYSTORE_CALLBACK_FIRST") ?? 0
    /// The number of commits on one stack.
    private static let length = 40

    @Test(arguments: Backend.allCases) func everyObserverIsToldEachChangeOnce(backend: Backend) async throws {
        var actions = 0
        for start in stride(from: Self.first, to: Self.first + Self.commits, by: Self.length) {
            let folder = try Folder()
            let stack = try DataStack(monitorSchema)
            stack.snapshotWarningAge = .seconds(100_000)
            try stack.addStore(backend.store(in: folder))
            let world = try CallbackWorld(stack, seed: UInt64(start / Self.length))
            for number in start..<min(start + Self.length, Self.first + Self.commits) {
                try world.step()
                // Lets other tests use the main actor.
                await Task.yield()
                #expect(world.failures.isEmpty, "commit \(number)")
                if !world.failures.isEmpty { return }
            }
            actions += world.actionCount
        }
        #expect(actions > 0)
    }
}
