import Foundation
import PolyStoreBackend
import PolyStoreCore
import SeededRandom
import TestModels
import TestSupport
import Testing

/// Random changes of two sides, merged by every policy and compared with ``MergeModel``: also what neither side has changed. Objects are deleted and inserted
/// again, deletions are undone, and transactions are refreshed and have parents.
///
/// For more programs on each backend: `POLYSTORE_MERGE_PROGRAMS=5000 swift test --filter MergeOracleTests`; `POLYSTORE_MERGE_FIRST=700` begins with another
/// seed.
@Suite struct MergeOracleTests {
    private static let programs = UInt64(TestEnvironment.number("POLYSTORE_MERGE_PROGRAMS") ?? Ring.size(60, thorough: 5_000))
    private static let first = UInt64(TestEnvironment.number("POLYSTORE_MERGE_FIRST") ?? 0)
    /// The number of programs that use one stack.
    private static let perStack: UInt64 = 20

    @Test(arguments: Backend.allCases)
    func mergesDoWhatTheModelDoes(_ backend: Backend) throws {
        for start in stride(from: Self.first, to: Self.first + Self.programs, by: UInt64.Stride(Self.perStack)) {
            let run = try MergeRun(backend)
            for seed in start..<min(start + Self.perStack, Self.first + Self.programs) {
                let log = run.program(seed)
                if let log {
                    Issue.record("seed \(seed) of the stack from \(start), \(backend.rawValue): \(log)")
                    return
                }
            }
        }
    }
}

/// A stack that programs run on one after another.
final class MergeRun: @unchecked Sendable {  // used by one thread at a time
    typealias Key = MergeModel.Key
    typealias End = MergeModel.End
    typealias List = MergeModel.List

    /// The transaction whose changes are merged.
    private enum Place: CaseIterable { case unsafe, undoable, child, childOfQueued, steps, batch }

    struct Mismatch: Error { let text: String }

    /// A side that the closures of transactions change.
    private final class Shared: @unchecked Sendable {  // used by one thread at a time
        var side: MergeModel.Side
        init(_ state: MergeModel.State) { side = MergeModel.Side(state) }
    }

    private let folder: Folder
    private let stack: DataStack
    /// A context that is refreshed from time to time, with lists that follow it.
    private let context: RefreshableContext
    private let people: ListMonitor<Person>
    private let adults: ListMonitor<Person>
    private let tracks: ListMonitor<Track>
    private var store = MergeModel.State()
    var random = SplitMix64(seed: 0)
    var log: [String] = []
    var number = 0
    /// The ids of the objects that were created.
    var ids: [Key: Any] = [:]
    /// A Boolean value that indicates whether the order of lists and the spouses depend on the order in which undo restores changes.
    var hasUndo = false

    init(_ backend: Backend) throws {
        folder = try Folder()
        let models: [any Model.Type] = [Person.self, Department.self, Project.self, Playlist.self, Track.self, MusicTag.self]
        stack = try DataStack(Schema("Merge", models), logger: SilentLogger())
        stack.snapshotWarningAge = .seconds(100_000)
        try stack.addStore(backend.store(in: folder).durability(.relaxed))
        context = stack.newContext()
        people = try context.monitorList(From<Person>().orderBy(.ascending(\.email)))
        adults = try context.monitorList(From<Person>().where(\.age > 4).orderBy(.descending(\.age), .ascending(\.email)))
        tracks = try context.monitorList(From<Track>().orderBy(.ascending(\.playlist?.title), .ascending(\.title)))
    }

    // MARK: Programs

    /// - Returns: A description of the first difference; nil if there is none.
    func program(_ seed: UInt64) -> String? {
        random = SplitMix64(seed: seed)
        log = []
        do {
            try fill()
            let place = random.pick(Place.allCases)
            hasUndo = place == .undoable
            let policy = random.pick([MergePolicy.error, .storeWins, .mineWins, .attributesStoreWins, .attributesMineWins])
            log.append("\(place) \(policy):")
            switch place {
            case .unsafe: try unsafe(stack.beginUnsafe(), policy)
            case .undoable: try undoable(stack.beginUnsafe(supportsUndo: true), policy)
            case .child: try child(policy)
            case .childOfQueued: try childOfQueued(policy)
            case .steps: try steps(policy)
            case .batch: try batch(policy)
            }
            try check(store, stack.newContext(), "in a new context")
            try checkLists()
            return nil
        } catch let mismatch as Mismatch {
            return "\(log.joined(separator: " ")): \(mismatch.text)"
        } catch {
            return "\(log.joined(separator: " ")): unexpected \(error)"
        }
    }

    /// Creates objects, so that there are some of each kind.
    private func fill() throws {
        let shared = Shared(store)
        try stack.performAndWait { [self] transaction throws in
            for kind in MergeModel.Kind.allCases {
                while shared.side.state.keys(kind).count < (kind == .track ? 5 : kind == .playlist ? 2 : 3) {
                    try create(kind, transaction, &shared.side)
                }
            }
            for _ in 0..<4 { try change(transaction, &shared.side, mayDelete: false) }
        }
        store = shared.side.state
    }

    /// Commits changes of others to the store.
    private func others() throws {
        for _ in 0...random.below(3) {
            let shared = Shared(store)
            log.append("others(")
            try stack.performAndWait { [self] transaction throws in
                for _ in 0...random.below(3) { try change(transaction, &shared.side) }
            }
            log.append(")")
            store = shared.side.state
            if random.once(in: 4) { try refreshContext() }
        }
    }

    private func refreshContext() throws {
        try context.refresh()
        if random.once(in: 3) { try checkLists() }
    }

    private func changes(_ transaction: Transaction, _ side: inout MergeModel.Side, _ held: inout [Key: any Model]) throws {
        for _ in 0...random.below(6) { try change(transaction, &side, &held) }
    }

    private func unsafe(_ draft: UnsafeTransaction, _ policy: MergePolicy) throws {
        var mine = MergeModel.Side(store)
        var held: [Key: any Model] = [:]
        try changes(draft, &mine, &held)
        if !random.once(in: 8) { try others() }
        try commit(mine, policy) { try draft.commitAndWait(mergePolicy: $0) }
        draft.rollback()
        try check(store, draft, "in the transaction")
    }

    private func steps(_ policy: MergePolicy) throws {
        let transaction = stack.beginTransaction()
        let mine = Shared(store)
        for _ in 0...random.below(2) {
            try transaction.performAndWait { [self] step throws in
                var held: [Key: any Model] = [:]
                try changes(step, &mine.side, &held)
            }
        }
        try others()
        try commit(mine.side, policy) { policy in
            _ = try transaction.performAndWait { step throws in try step.commitAndWait(mergePolicy: policy) }
        }
    }

    private func batch(_ policy: MergePolicy) throws {
        let count = random.below(2) + 1
        try stack.performBatchAndWait { [self] (batch: UnsafeTransaction) throws -> Void in
            for _ in 0..<count { try commitOnce(batch, policy) }
        }
    }

    private func commitOnce(_ batch: UnsafeTransaction, _ policy: MergePolicy) throws {
        var mine = MergeModel.Side(store)
        var held: [Key: any Model] = [:]
        try changes(batch, &mine, &held)
        try others()
        try commit(mine, policy) { try batch.commitAndWait(mergePolicy: $0) }
        batch.rollback()
    }

    private func child(_ policy: MergePolicy) throws {
        let parent = stack.beginUnsafe()
        var outer = MergeModel.Side(store)
        var held: [Key: any Model] = [:]
        if random.once(in: 2) { try changes(parent, &outer, &held) }
        try merge(policy, parent, &outer)
        // Without changes of others, only the rules can refuse the commit of the parent.
        let result = outer
        let failure = failure(of: result)
        try expect({ failure }, .error, { try parent.commitAndWait(mergePolicy: $0) })
        if failure == nil { store = result.state }
    }

    private func childOfQueued(_ policy: MergePolicy) throws {
        let outer = Shared(store)
        func run() throws {
            try stack.performAndWait { [self] parent throws in
                var held: [Key: any Model] = [:]
                if random.once(in: 2) { try changes(parent, &outer.side, &held) }
                try merge(policy, parent, &outer.side)
            }
        }
        // What is expected depends on what the body does.
        try expect({ failure(of: outer.side) }, .error, { _ in try run() })
        if failure(of: outer.side) == nil { store = outer.side.state }
    }

    private func failure(of side: MergeModel.Side) -> MergeModel.Failure? {
        do {
            try side.validate()
            return nil
        } catch { return error as? MergeModel.Failure }
    }

    /// Merges the changes of a child into its parent.
    private func merge(_ policy: MergePolicy, _ parent: Transaction, _ outer: inout MergeModel.Side) throws {
        let child = parent.beginUnsafe()
        var mine = MergeModel.Side(outer.state)
        var (held, outerHeld): ([Key: any Model], [Key: any Model]) = ([:], [:])
        log.append("child(")
        try changes(child, &mine, &held)
        log.append(") parent(")
        try changes(parent, &outer, &outerHeld)
        log.append(")")
        var result = outer
        var conflicts = false
        do { try result.merge(mine, policy) } catch { conflicts = true }
        try expect({ conflicts ? .conflict : nil }, policy, { try child.commitAndWait(mergePolicy: $0) })
        if !conflicts { outer = result }
        try check(outer.state, parent, "in the parent")
        if !conflicts { try check(outer.state, child, "in the child") }
    }

    // MARK: Undo

    private func undoable(_ draft: UnsafeTransaction, _ policy: MergePolicy) throws {
        var mine = MergeModel.Side(store)
        var shown = store
        var held: [Key: any Model] = [:]
        for kind in MergeModel.Kind.allCases { for key in store.keys(kind) { held[key] = try object(key, draft) } }
        var undone: [Key: MergeModel.Object] = [:]
        var (past, future): ([MergeModel.Side], [MergeModel.Side]) = ([], [])
        var isRefreshed = false
        for _ in 0..<random.below(9) + 3 {
            switch random.below(10) {
            case 0...4:
                past.append(mine)
                if isRefreshed {
                    try edit(draft, &mine, undone, held)
                } else {
                    try change(draft, &mine, &held)
                }
                // Ensures that the step has a change.
                let key = random.pick(mine.state.objects.keys.sorted())
                if let object = held[key] { set(key, 0, random.below(9), object, &mine) }
                draft.flush()
                future = []
            case 5, 6:
                guard let saved = past.popLast() else { continue }
                log.append("undo")
                try draft.undo()
                future.append(mine)
                mine.restore(saved, shown, &undone)
            case 7:
                guard let saved = future.popLast() else { continue }
                log.append("redo")
                try draft.redo()
                past.append(mine)
                mine.restore(saved, shown, &undone)
            case 8:
                log.append("refresh")
                draft.refresh()
                // The next read begins the snapshot.
                _ = try draft.fetchCount(From<Person>())
                shown = store
                mine.show(shown)
                isRefreshed = true
            default: try others()
            }
        }
        try others()
        try commit(mine, policy) { try draft.commitAndWait(mergePolicy: $0) }
    }

    /// Edits or deletes an object whose relationships others do not affect, or edits one whose deletion was undone.
    private func edit(
        _ draft: UnsafeTransaction, _ side: inout MergeModel.Side, _ undone: [Key: MergeModel.Object], _ held: [Key: any Model]
    ) throws {
        let gone = undone.keys.filter { side.state.objects[$0] == nil && side.changes.deleted[$0] == nil }.sorted()
        if !gone.isEmpty, random.once(in: 2) {
            let key = random.pick(gone)
            guard let object = held[key] else { return }
            side.state.objects[key] = undone[key]
            return set(key, random.below(key.kind.attributeCount), random.below(9), object, &side)
        }
        let key = random.pick(side.state.objects.keys.sorted())
        guard let object = held[key], !object.isDeleted else { return }
        if random.once(in: 3), key.kind == .person || key.kind == .track {
            log.append("delete \(key)")
            try draft.delete(object: object)
            return side.delete([key])
        }
        set(key, random.below(key.kind.attributeCount), random.below(9), object, &side)
    }

    // MARK: Commits and comparisons

    /// Commits the changes of a side to the store, and expects what the model expects.
    private func commit(_ mine: MergeModel.Side, _ policy: MergePolicy, _ commit: (MergePolicy) throws -> Void) throws {
        var policy = policy
        var result = MergeModel.Side(store)
        do { try result.merge(mine, policy) } catch {
            try expect({ .conflict }, policy, commit)
            // Nothing is lost: the changes are committed with another policy.
            policy = random.pick([.storeWins, .mineWins, .attributesStoreWins, .attributesMineWins])
            log.append("then \(policy)")
            result = MergeModel.Side(store)
            try result.merge(mine, policy)
        }
        let failure = failure(of: result)
        try expect({ failure }, policy, commit)
        if failure == nil { store = result.state }
    }

    /// Expects an error of a commit, or none.
    /// - Parameter failure: The expected error, which may depend on what the commit does.
    private func expect(
        _ failure: () -> MergeModel.Failure?, _ policy: MergePolicy, _ commit: (MergePolicy) throws -> Void
    ) throws {
        var found: MergeModel.Failure?
        do { try commit(policy) } catch let error as StoreError where error.code == .conflict || error.code == .constraint {
            found = error.code == .conflict ? .conflict : .constraint
            log.append("(\(error.message.prefix(120)))")
        }
        let failure = failure()
        if found != failure {
            throw Mismatch(text: "thrown is \(found.map { "\($0)" } ?? "nothing") instead of \(failure.map { "\($0)" } ?? "nothing")")
        }
    }

    private func check(_ expected: MergeModel.State, _ context: Context, _ name: String) throws {
        let (found, expected) = (try MergeModel.State(context).lines(sorted: hasUndo), expected.lines(sorted: hasUndo))
        if hasUndo, name == "in a new context" { store = try MergeModel.State(context) }
        guard found != expected else { return }
        let (extra, missing) = (found.filter { !expected.contains($0) }, expected.filter { !found.contains($0) })
        throw Mismatch(text: "\(name) are \(extra), expected \(missing)")
    }

    /// Compares the lists of the context with those of a new one.
    private func checkLists() throws {
        try context.refresh()
        let fresh = stack.newContext()
        func compare<T: Model>(_ name: String, _ list: ListMonitor<T>, _ source: FetchChain<T>) throws {
            let (found, expected) = (list.map(\.objectID), try fresh.fetchAll(source).map(\.objectID))
            if found != expected { throw Mismatch(text: "the list \(name) has \(found), fetched is \(expected)") }
        }
        try compare("people", people, From<Person>().orderBy(.ascending(\.email)))
        try compare("adults", adults, From<Person>().where(\.age > 4).orderBy(.descending(\.age), .ascending(\.email)))
        try compare("tracks", tracks, From<Track>().orderBy(.ascending(\.playlist?.title), .ascending(\.title)))
    }
}

extension MergeModel.State {
    /// Reads all objects of a context.
    fileprivate init(_ context: Context) throws {
        typealias Key = MergeModel.Key
        self.init()
        func key(_ kind: MergeModel.Kind, _ object: (some Model)?) -> Key? { object.map { Key(kind: kind, rowID: $0.objectID.rowID) } }
        func add(_ key: Key?, _ values: [Int], _ ones: [MergeModel.One: Key?] = [:]) {
            if let key { objects[key] = MergeModel.Object(values: values, ones: ones.compactMapValues { $0 }) }
        }
        for person in try context.fetchAll(From<Person>()) {
            guard let own = key(.person, person) else { continue }
            add(
                own, [person.age, person.nickname.flatMap { Int($0) } ?? 0],
                [.department: key(.department, person.department), .spouse: key(.person, person.spouse)])
            links[MergeModel.End(owner: own, many: .friends)] = person.friends.compactMap { key(.person, $0) }
        }
        for department in try context.fetchAll(From<Department>()) {
            guard let own = key(.department, department) else { continue }
            add(own, [Int(department.title) ?? 0, NSDecimalNumber(decimal: department.budget).intValue])
            links[MergeModel.End(owner: own, many: .tags)] = department.tags.compactMap { key(.project, $0) }
            let people = Set(department.people.compactMap { key(.person, $0) })
            for person in people where objects[person]?.ones[.department] != own {
                throw StoreError(.corrupt, "\(own).people has \(person)")
            }
        }
        for project in try context.fetchAll(From<Project>()) {
            add(
                key(.project, project), [Int(project.name) ?? 0],
                [.owner: key(.department, project.owner), .parent: key(.project, project.parent)])
        }
        for playlist in try context.fetchAll(From<Playlist>()) {
            guard let own = key(.playlist, playlist) else { continue }
            add(own, [Int(playlist.title) ?? 0])
            tracks[own] = playlist.tracks.compactMap { key(.track, $0) }
            links[MergeModel.End(owner: own, many: .extras)] = playlist.extras.compactMap { key(.track, $0) }
        }
        for track in try context.fetchAll(From<Track>()) {
            add(key(.track, track), [Int(track.title) ?? 0], [.playlist: key(.playlist, track.playlist)])
        }
    }
}
