import Foundation
import PolyStore
import TestSupport
import Testing

/// Objects that unqueued transactions hold, and that are deleted and exist again.
@MainActor
@Suite struct ReturningObjectTests {
    enum Kind: String, CaseIterable, Sendable {
        case draft, child
    }

    /// The transaction that deletes the object.
    enum Deletion: String, CaseIterable, Sendable {
        case byOthers, byOthersUnread, byItself
    }

    /// How the transaction moves to the version that contains the object again.
    enum Move: String, CaseIterable, Sendable {
        case refresh, rollback, commit, rejectedCommit
    }

    /// Records the calls of an object monitor.
    private final class Calls: ObjectObserver {
        typealias ObjectEntity = Animal
        var calls: [String] = []

        func objectMonitor(_ monitor: ObjectMonitor<Animal>, willUpdateObject object: Animal) { calls.append("will") }
        func objectMonitor(_ monitor: ObjectMonitor<Animal>, didUpdateObject object: Animal, changedKeys: Set<String>) {
            calls.append("did \(object.age)")
        }
        func objectMonitor(_ monitor: ObjectMonitor<Animal>, didDeleteObject object: Animal) { calls.append("deleted") }
    }

    private struct Scene {
        let folder: Folder
        let stack: DataStack
        let parent: UnsafeTransaction?
        let draft: UnsafeTransaction
        let ids: [ObjectID<Animal>]

        init(_ backend: Backend, _ kind: Kind) throws {
            folder = try Folder()
            // Reading a deleted object is logged.
            stack = try DataStack(monitorSchema, logger: RecordingLogger())
            stack.snapshotWarningAge = .seconds(100_000)
            try stack.addStore(backend.store(in: folder))
            ids = try stack.performAndWait { transaction throws in
                try ["a", "b"].map { name in
                    let animal = try transaction.create(Into<Animal>())
                    (animal.name, animal.age) = (name, 1)
                    return animal.objectID
                }
            }
            parent = kind == .child ? stack.beginUnsafe() : nil
            draft = parent?.beginUnsafe(supportsUndo: true) ?? stack.beginUnsafe(supportsUndo: true)
        }

        func refresh() {
            parent?.refresh()
            draft.refresh()
        }

        /// Commits to the stores.
        func commit() throws {
            try draft.commit()
            try parent?.commit()
            draft.refresh()
        }

        func move(_ move: Move) throws {
            parent?.refresh()
            switch move {
            case .refresh: draft.refresh()
            case .rollback:
                try draft.edit(ids[1]).age += 1
                draft.rollback()
            case .commit:
                try draft.edit(ids[1]).age += 1
                try draft.commit()
            case .rejectedCommit:
                let id = ids[1]
                try draft.edit(id).age += 1
                if let parent { try parent.edit(id).age += 5 } else { try stack.performAndWait { try $0.edit(id).age += 5 } }
                expectError(.conflict) { try draft.commit() }
                #expect(draft.hasChanges)
            }
        }
    }

    @Test(arguments: Backend.forObjectLayer, Kind.allCases)
    func anObjectThatOthersInsertAgain(_ backend: Backend, _ kind: Kind) throws {
        for deletion in Deletion.allCases {
            for move in Move.allCases {
                let comment = Comment(rawValue: "\(deletion) \(move)")
                let scene = try Scene(backend, kind)
                let (draft, id) = (scene.draft, scene.ids[0])
                let animal = try #require(try draft.fetchExisting(id))
                let list = try draft.monitorList(From<Animal>().orderBy(.ascending(\.name)))
                let monitor = try draft.monitorObject(animal)
                let observer = Calls()
                monitor.addObserver(observer)
                let others = scene.stack.beginUnsafe()
                try others.edit(id).age = 7
                if deletion == .byItself {
                    try draft.delete(animal)
                    try scene.commit()
                } else {
                    try scene.stack.performAndWait { try $0.delete(id) }
                    scene.refresh()
                    if deletion == .byOthers { _ = animal.age }
                }
                #expect(list.map(\.name) == ["b"] && monitor.isObjectDeleted, comment)
                #expect(try draft.fetchExisting(id) == nil, comment)
                #expect(animal.isDeleted, comment)
                try others.commit(mergePolicy: .mineWins)
                try scene.move(move)
                #expect(try draft.fetchExisting(id) === animal, comment)
                #expect(!animal.isDeleted && animal.age == 7, comment)
                let fetched = try draft.fetchAll(From<Animal>().orderBy(.ascending(\.name)))
                #expect(fetched.map(\.name) == ["a", "b"] && fetched.allSatisfy { !$0.isDeleted }, comment)
                #expect(list.map(\.name) == ["a", "b"] && list.allSatisfy { !$0.isDeleted }, comment)
                #expect(monitor.object === animal && observer.calls == ["deleted", "will", "did 7"], comment)
                try draft.edit(animal).age = 8
                try draft.commit(mergePolicy: .mineWins)
                try scene.parent?.commit(mergePolicy: .mineWins)
                #expect(try scene.stack.readAndWait { try $0.fetchExisting(id)?.age } == 8, comment)
            }
        }
    }

    /// A deletion that is not committed remains.
    @Test(arguments: Backend.forObjectLayer, Kind.allCases)
    func aPendingDeletionRemains(_ backend: Backend, _ kind: Kind) throws {
        let scene = try Scene(backend, kind)
        let animal = try scene.draft.edit(scene.ids[0])
        animal.age = 3
        try scene.draft.delete(animal)
        scene.refresh()
        #expect(animal.isDeleted)
        #expect(try scene.draft.fetchExisting(scene.ids[0]) == nil)
        try scene.commit()
        #expect(try scene.stack.readAndWait { try $0.fetchCount(From<Animal>()) } == 1)
    }

    /// A monitor shows the state of its object: the values of before its change, also if others have deleted it in the meantime.
    @Test(arguments: Backend.forObjectLayer, Kind.allCases)
    func anUndoneObjectThatOthersDeleted(_ backend: Backend, _ kind: Kind) throws {
        for isDeletion in [true, false] {
            let comment: Comment = isDeletion ? "deletion" : "change"
            let scene = try Scene(backend, kind)
            let (draft, id) = (scene.draft, scene.ids[0])
            let animal = try draft.edit(id)
            let monitor = try draft.monitorObject(animal)
            let observer = Calls()
            monitor.addObserver(observer)
            if isDeletion { try draft.delete(animal) } else { animal.age = 2 }
            draft.flush()
            try scene.stack.performAndWait { try $0.delete(id) }
            scene.refresh()
            try draft.undo()
            #expect(!animal.isDeleted && animal.age == 1, comment)
            #expect(try draft.fetchExisting(id) === animal, comment)
            #expect(monitor.object === animal, comment)
            #expect(observer.calls == (isDeletion ? ["deleted", "will", "did 1"] : ["will", "did 2", "will", "did 1"]), comment)
            scene.refresh()
            draft.flush()
            #expect(monitor.object === animal && animal.age == 1, comment)
            // A commit or a rollback ends the steps, and with them the values.
            draft.rollback()
            #expect(try draft.fetchExisting(id) == nil, comment)
            #expect(monitor.isObjectDeleted && observer.calls.last == "deleted", comment)
        }
    }
}
