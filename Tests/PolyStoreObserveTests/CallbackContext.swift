import Foundation
import PolyStore
import TestSupport

/// A context of each kind with monitors, for tests of callbacks. All are used on the main actor.
enum CallbackContextKind: String, CaseIterable, Sendable {
    case view, refreshed, draft, child
}

/// A stack of animals, a context of one kind, and the changes that its monitors report.
@MainActor
final class CallbackContext {
    let stack: DataStack
    let context: any MonitoringContext
    private let folder: Folder
    private let parent: UnsafeTransaction?

    init(_ backend: Backend, _ kind: CallbackContextKind) throws {
        folder = try Folder()
        stack = try DataStack(monitorSchema)
        stack.snapshotWarningAge = .seconds(100_000)
        try stack.addStore(backend.store(in: folder))
        switch kind {
        case .view: (context, parent) = (stack.view, nil)
        case .refreshed: (context, parent) = (stack.newContext(), nil)
        case .draft: (context, parent) = (stack.beginUnsafe(supportsUndo: true), nil)
        case .child:
            let parent = stack.beginUnsafe()
            (context, self.parent) = (parent.beginUnsafe(supportsUndo: true), parent)
        }
    }

    /// The context, if it is an unqueued transaction.
    var draft: UnsafeTransaction? { context as? UnsafeTransaction }

    /// Makes a change that the monitors of the context report.
    func change(_ body: @Sendable (Transaction) throws -> Void) throws {
        if let draft {
            try body(draft)
            draft.flush()
        } else {
            try stack.performAndWait { transaction in try body(transaction) }
            try (context as? RefreshableContext)?.refresh()
        }
    }

    /// Creates animals with names and ages.
    func insert(_ animals: (String, Int)...) throws {
        try change { transaction in
            for (name, age) in animals {
                let animal = try transaction.create(Into<Animal>())
                (animal.name, animal.age) = (name, age)
            }
        }
    }

    /// Returns the names of all animals that the context finds, in order.
    func names() throws -> [String] { try context.fetchAll(From<Animal>().orderBy(.ascending(\.name))).map(\.name) }

    func commit() throws { try draft?.commit() }
}
