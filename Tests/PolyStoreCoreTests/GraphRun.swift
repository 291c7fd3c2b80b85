import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport

/// Runs a program on a stack with two stores and on the model, and compares them.
final class GraphRun: @unchecked Sendable {  // used by one thread
    let stack: DataStack
    /// Objects of another stack with the row ids 1 to 8.
    let elsewhere: GraphIDs
    /// Compares everything after each operation; otherwise only where transactions and children begin and end, so that less is read in between.
    private let checksEachStep: Bool
    private let program: [GraphOperation]
    private var position = 0
    var levels: [GraphLevel] = []
    var committed = GraphState()
    var ids: GraphIDs = [:]
    /// The keys of the objects, by the numbers in the program.
    var keys: [Int: GraphKey] = [:]
    /// Every object that was committed.
    private(set) var known: Set<GraphKey> = []
    private(set) var marker: GraphKey?

    /// The state of the queued transaction whose body has ended, and the error that its commit is expected to throw.
    private var ended: GraphState?
    private var expected: GraphFailure?

    private struct Discard: Error {}

    init(_ program: [GraphOperation], _ backend: Backend, _ folder: Folder, _ elsewhere: GraphIDs, checksEachStep: Bool) throws {
        self.program = program
        self.elsewhere = elsewhere
        self.checksEachStep = checksEachStep
        let models = GraphKind.schema
        stack = try DataStack(Schema("Graph", models, configurations: ["A": models, "B": models]), logger: SilentLogger())
        try stack.addStore(backend.store(in: folder, "a"), configuration: "A")
        try stack.addStore(backend.store(in: folder, "b"), configuration: "B")
    }

    /// - Throws: ``GraphMismatch`` at the first difference.
    func run() throws {
        let first = try stack.performAndWait { transaction throws in
            let person = try transaction.create(Into<Person>("A"))
            person.email = "marker"
            return person.objectID
        }
        let marker = GraphKey(store: 0, family: .person, rowID: first.graphRowID)
        self.marker = marker
        ids[marker] = first
        committed.create(marker, .person, [0, 0])
        setCommitted(committed)
        while let operation = next() {
            do {
                switch operation {
                case .begin(let kind): try begin(kind)
                case .relateGone(let owner, let relationship, let target): try relateGoneAlone(owner, relationship, target)
                default: break
                }
            } catch let error as GraphMismatch {
                throw error
            } catch {
                throw GraphMismatch("unexpected error \(error)")
            }
        }
        try checkStores()
    }

    private func next() -> GraphOperation? {
        guard position < program.count else { return nil }
        defer { position += 1 }
        return program[position]
    }

    /// Notes what another transaction has committed.
    func didCommitElsewhere() { setCommitted(committed) }

    private func setCommitted(_ state: GraphState) {
        committed = state.flattened
        known.formUnion(committed.objects.keys)
    }

    // MARK: Transactions

    private func begin(_ kind: GraphOperation.Kind) throws {
        defer { levels = [] }
        switch kind {
        case .perform: try perform()
        case .synchronous: try beginSynchronous()
        case .unsafe, .undoable:
            levels = [GraphLevel(stack.beginUnsafe(supportsUndo: kind == .undoable), kind, committed)]
            if try body(), let level = levels.first { try commitUnsafe(level) }
        }
        levels = []
        try checkStores()
    }

    private func perform() throws {
        (expected, ended) = (nil, nil)
        do {
            try stack.performAndWait { transaction throws in
                let level = GraphLevel(transaction, .perform, committed)
                levels = [level]
                defer { levels = [] }
                guard try body() else { throw Discard() }
                try check()
                expected = level.state.failure(base: nil)
                ended = level.state
            }
        } catch is Discard {
            return
        } catch let error as StoreError {
            guard ended != nil, let expected else { throw error }
            return try expect(expected, GraphFailure(error))
        }
        if let expected { throw GraphMismatch("the commit succeeded instead of throwing \(expected)") }
        if let ended { setCommitted(ended) }
    }

    private func beginSynchronous() throws {
        (expected, ended) = (nil, nil)
        // An error that a body throws after its commit is only logged.
        let failure = Protected<GraphMismatch?>(nil)
        do {
            _ = try stack.beginSynchronous { transaction throws in
                let level = GraphLevel(transaction, .synchronous, committed)
                levels = [level]
                defer { levels = [] }
                do {
                    if try body(), !level.isCommitted { try commitSynchronous(level) }
                    guard level.isCommitted else { return }
                    expected = level.state.failure(base: nil)
                    guard expected == nil else { return }
                    try check()
                    ended = level.state
                } catch {
                    failure.withLock { $0 = error as? GraphMismatch ?? GraphMismatch("unexpected error \(error)") }
                }
            }
        } catch let error as StoreError {
            // The error of the commit is thrown again at the end.
            if let mismatch = failure.withLock({ $0 }) { throw mismatch }
            guard let expected else { throw error }
            try expect(expected, GraphFailure(error))
        }
        if let mismatch = failure.withLock({ $0 }) { throw mismatch }
        if let ended { setCommitted(ended) }
    }

    private func commitSynchronous(_ level: GraphLevel) throws {
        guard let transaction = level.transaction as? SynchronousTransaction, !level.isCommitted else { return }
        level.isCommitted = true
        let expected = level.state.failure(base: nil)
        try expectFailure(expected) { try transaction.commit() }
        if expected == nil {
            if (try? transaction.commit()) != nil { throw GraphMismatch("a second commit was accepted") }
        }
    }

    private func commitUnsafe(_ level: GraphLevel) throws {
        guard let transaction = level.unsafe else { return }
        let expected = level.state.failure(base: level.base)
        let changed = Set(level.originals.filter { committed.objects[$0.key] != $0.value }.map(\.key))
        let isDeletionOutdated = level.state.deleted.keys.contains { key in
            level.base.objects[key] != nil && level.base.objects[key] != committed.objects[key]
        }
        if isDeletionOutdated || expected == nil && changed.contains(where: { committed.objects[$0] == nil }) {
            return rollback(level)
        }
        if let expected, expected.code != .constraint || changed.isEmpty || !level.state.refusals.isEmpty {
            try expectFailure(expected) { try transaction.commit() }
            return rollback(level)
        }
        if !changed.isEmpty {
            try expectFailure(GraphFailure(code: .conflict, violations: [])) { try transaction.commit() }
            level.state.refresh(to: committed)
            level.base = committed
            try check()
            if let expected {
                try expectFailure(expected) { try transaction.commit(mergePolicy: .attributesMineWins) }
                return rollback(level)
            }
            try transaction.commit(mergePolicy: .attributesMineWins)
        } else {
            try transaction.commit()
        }
        var state = level.state
        state.keepAttributes(of: committed)
        state.refresh(to: committed)
        setCommitted(state)
        level.begin(committed)
        level.releaseObjects()
        try check()
    }

    private func rollback(_ level: GraphLevel) {
        level.unsafe?.rollback()
        level.begin(committed)
        level.releaseObjects(all: true)
    }

    /// Runs the operations of a transaction and of its children.
    /// - Returns: whether to commit the transaction.
    private func body() throws -> Bool {
        var commits = true
        loop: while let operation = next() {
            guard let level = levels.last else { break }
            switch operation {
            case .begin: continue
            case .end(let commit):
                commits = commit
                break loop
            case .commit where levels.count == 1:
                if level.kind == .synchronous { try commitSynchronous(level) } else { try commitUnsafe(level) }
                if level.isCommitted, level.state.failure(base: nil) != nil { break loop }
            case .beginChild:
                guard levels.count < 3 else { continue }
                levels.append(GraphLevel(level.transaction.beginUnsafe(), .unsafe, level.state.flattened))
            case .endChild(let commits):
                guard levels.count > 1 else { continue }
                try endChild(level, levels[levels.count - 2], commits: commits)
            default:
                try apply(operation, level)
            }
            if checksEachStep { try check() }
        }
        levels.removeLast(levels.count - 1)
        try check()
        return commits
    }

    private func endChild(_ level: GraphLevel, _ parent: GraphLevel, commits: Bool) throws {
        levels.removeLast()
        guard commits, !levels[0].isCommitted, let transaction = level.unsafe else { return try check() }
        let expected = level.state.failure(base: level.base, isChild: true)
        try expectFailure(expected) { try transaction.commit() }
        guard expected == nil else { return try check() }
        parent.state = level.state.merged(into: parent.state)
        parent.didChange()
        try check()
    }

    // MARK: Comparisons

    /// Expects an error, or none.
    func expectFailure(_ expected: GraphFailure?, _ body: () throws -> Void) throws {
        do { try body() } catch let error as StoreError {
            guard let expected else { throw error }
            return try expect(expected, GraphFailure(error))
        }
        if let expected { throw GraphMismatch("nothing was thrown instead of \(expected)") }
    }

    private func expect(_ expected: GraphFailure, _ found: GraphFailure) throws {
        guard found != expected else { return }
        throw GraphMismatch("thrown \(found), expected \(expected)")
    }

    /// Compares the open transactions and a new context with the model.
    func check() throws {
        for (depth, level) in levels.enumerated() {
            let expected = GraphPicture(level.state)
            let found = try GraphPicture(level.transaction)
            guard found == expected else {
                let name = depth == levels.count - 1 ? (depth == 0 ? "transaction" : "child") : "parent"
                throw GraphMismatch("in the \(name): \(found.difference(from: expected))")
            }
        }
        // When a commit in the body becomes visible to others is only promised for the end of the body.
        if levels.first?.isCommitted != true { try checkCommitted() }
    }

    private func checkCommitted() throws {
        let expected = GraphPicture(committed)
        let found = try stack.readAndWait { try GraphPicture($0) }
        guard found == expected else { throw GraphMismatch("in a new context: \(found.difference(from: expected))") }
    }

    private func checkStores() throws {
        try checkCommitted()
        for store in stack.stores {
            let problems = try store.graphProblems()
            guard problems.isEmpty else { throw GraphMismatch("verify: \(problems)") }
        }
    }
}

extension PersistentStore {
    /// Returns what `verify` finds.
    fileprivate func graphProblems() throws -> [String] { capabilities.has(.verification) ? try verifyAndWait() : [] }
}
