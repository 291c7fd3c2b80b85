import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Monitors, publishers and sequences of objects without classes.
@MainActor @Suite struct DynamicObservationTests {
    /// Records the calls of monitors.
    private final class Recorder: EntityListObserver, EntityObjectObserver {
        var calls: [String] = []
        var removesItself = false

        private func name(_ object: DynamicObject) -> String { (try? object.value("email")?.string) ?? "\(object.id.rowID)" }
        private func place(_ path: IndexPath) -> String { "\(path[0]).\(path[1])" }

        func listMonitorWillChange(_ monitor: EntityListMonitor) {
            calls.append("will \(monitor.count)")
            if removesItself { monitor.removeObserver(self) }
        }
        func listMonitorDidChange(_ monitor: EntityListMonitor) { calls.append("did") }
        func listMonitorWillRefetch(_ monitor: EntityListMonitor) { calls.append("will refetch") }
        func listMonitorDidRefetch(_ monitor: EntityListMonitor) { calls.append("did refetch \(monitor.count)") }
        func listMonitor(_ monitor: EntityListMonitor, didInsertObject object: DynamicObject, toIndexPath indexPath: IndexPath) {
            calls.append("insert \(name(object)) \(place(indexPath))")
        }
        func listMonitor(_ monitor: EntityListMonitor, didDeleteObject object: DynamicObject, fromIndexPath indexPath: IndexPath) {
            calls.append("delete \(object.isDeleted) \(place(indexPath))")
        }
        func listMonitor(_ monitor: EntityListMonitor, didUpdateObject object: DynamicObject, atIndexPath indexPath: IndexPath) {
            calls.append("update \(name(object)) \(place(indexPath))")
        }
        func listMonitor(
            _ monitor: EntityListMonitor, didMoveObject object: DynamicObject, fromIndexPath: IndexPath, toIndexPath: IndexPath
        ) { calls.append("move \(name(object)) \(place(fromIndexPath)) \(place(toIndexPath))") }
        func listMonitor(_ monitor: EntityListMonitor, didInsertSection section: ListSection, toSectionIndex sectionIndex: Int) {
            calls.append("insert section \(section.name) \(sectionIndex)")
        }
        func listMonitor(_ monitor: EntityListMonitor, didDeleteSection section: ListSection, fromSectionIndex sectionIndex: Int) {
            calls.append("delete section \(section.name) \(sectionIndex)")
        }

        func objectMonitor(_ monitor: EntityObjectMonitor, willUpdateObject object: DynamicObject) {
            calls.append("will update \((try? object.value("age"))?.map { "\($0)" } ?? "")")
        }
        func objectMonitor(_ monitor: EntityObjectMonitor, didUpdateObject object: DynamicObject, changedKeys: Set<String>) {
            calls.append("updated \(changedKeys.sorted())")
        }
        func objectMonitor(_ monitor: EntityObjectMonitor, didDeleteObject object: DynamicObject) {
            calls.append("deleted \(monitor.object == nil)")
        }

        func take() -> [String] {
            defer { calls = [] }
            return calls
        }
    }

    @Test(arguments: Engine.all)
    func aListMonitorReportsTheChangesOfAQuery(_ engine: Engine) async throws {
        let stored = try Stored(engine, Stored.company, Stored.fillCompany)
        try await Stored.opened(stored.configuration, forWriting: true) { stack in
            let recorder = Recorder()
            let query = EntityQuery("Person").where("age >= 30").orderBy("age")
            let monitor = try stack.view.monitorList(query, sectionBy: "department.title")
            monitor.addObserver(recorder)
            monitor.addObserver(recorder)
            #expect(try monitor.map { try $0.value("email") } == ["bob", "cid", "dan"])
            #expect(monitor.sections.map(\.name) == ["Research", "Sales"] && monitor.sections[0].count == 2)
            #expect(try monitor[IndexPath(indexes: [1, 0])].value("email") == "dan")
            #expect(monitor.index(of: monitor.objectIDs[2]) == 2)
            #expect(try monitor.explain().contains("Person"))

            try await stack.perform { transaction in
                try transaction.create("Person", ["email": "eve", "age": 35])
                try transaction.deleteAll(EntityQuery("Person").where("email == 'dan'"))
                try #require(try transaction.fetchOne(EntityQuery("Person").where("email == 'bob'"))).set("age", to: 45)
            }
            #expect(
                recorder.take() == [
                    "will 3", "insert section  0", "delete true 1.0", "insert eve 0.0", "move bob 0.0 1.1", "delete section Sales 1", "did",
                ])
            try monitor.refetch(EntityQuery("Person").orderBy("email"))
            #expect(recorder.take() == ["will refetch", "did refetch 4"])
            #expect(try requireFailure { try monitor.refetch(EntityQuery("Dept")) }.code == .misuse)
            recorder.removesItself = true
            try await stack.perform { _ = try $0.create("Person", ["email": "zoe"]) }
            try await stack.perform { _ = try $0.create("Person", ["email": "zac"]) }
            #expect(recorder.take() == ["will 5"], "a removed observer receives no further call")
            #expect(monitor.count == 6)
        }
    }

    /// Adds another observer in a callback.
    private final class Inviter: EntityListObserver {
        let guest: Recorder
        let invites: String
        var calls: [String] = []

        init(_ guest: Recorder, in callback: String) { (self.guest, invites) = (guest, callback) }

        private func call(_ name: String, _ monitor: EntityListMonitor) {
            calls.append(name)
            if name == invites { monitor.addObserver(guest) }
        }

        func listMonitorWillChange(_ monitor: EntityListMonitor) { call("will", monitor) }
        func listMonitorDidChange(_ monitor: EntityListMonitor) { call("did", monitor) }
        func listMonitorWillRefetch(_ monitor: EntityListMonitor) { call("will refetch", monitor) }
        func listMonitorDidRefetch(_ monitor: EntityListMonitor) { call("did refetch", monitor) }
    }

    /// An observer gets the calls of a change from the first or not at all, as that of a list of a class does.
    @Test func anObserverThatIsAddedInACallbackGetsWholeChanges() async throws {
        let stored = try Stored(.files(.sqlite), Stored.company, Stored.fillCompany)
        try await Stored.opened(stored.configuration, forWriting: true) { stack in
            @MainActor func calls(_ callback: String, _ change: @MainActor (EntityListMonitor) async throws -> Void) async throws
                -> [String]
            {
                let monitor = try stack.view.monitorList(EntityQuery("Person").orderBy("email"))
                let guest = Recorder()
                let inviter = Inviter(guest, in: callback)
                monitor.addObserver(inviter)
                try await change(monitor)
                #expect(inviter.calls.contains(callback))
                return guest.take()
            }
            @MainActor func refetch(_ monitor: EntityListMonitor) throws {
                try monitor.refetch(EntityQuery("Person").where("age > 25").orderBy("email"))
            }
            @MainActor func insert(_ monitor: EntityListMonitor) async throws {
                try await stack.perform { _ = try $0.create("Person", ["email": .text("x\(UUID())"), "age": 1]) }
            }
            let whole = try await calls("will refetch", refetch)
            #expect(whole == ["will refetch", "did refetch 3"])
            var none = try await calls("did refetch", refetch)
            none += try await calls("will", insert) + calls("did", insert)
            #expect(none == [])
            let next = try await calls("did") { monitor in
                try await insert(monitor)
                try refetch(monitor)
            }
            #expect(next == ["will refetch", "did refetch 3"])
        }
    }

    @Test func aReleasedObserverIsNotKept() async throws {
        let stored = try Stored(.files(.sqlite), Stored.company, Stored.fillCompany)
        try await Stored.opened(stored.configuration, forWriting: true) { stack in
            let monitor = try stack.view.monitorList(EntityQuery("Person").orderBy("email"))
            weak var released: Recorder?
            do {
                let recorder = Recorder()
                released = recorder
                monitor.addObserver(recorder)
            }
            #expect(released == nil)
            let recorder = Recorder()
            monitor.addObserver(recorder)
            try await stack.perform { _ = try $0.create("Person", ["email": "zoe"]) }
            #expect(recorder.take() == ["will 5", "insert zoe 0.4", "did"])
        }
    }

    @Test(arguments: Engine.all)
    func anObjectMonitorReportsTheChangedProperties(_ engine: Engine) async throws {
        let stored = try Stored(engine, Stored.company, Stored.fillCompany)
        try await Stored.opened(stored.configuration, forWriting: true) { stack in
            let recorder = Recorder()
            let bob = try #require(try stack.view.fetchOne(EntityQuery("Person").where("email == 'bob'")))
            let monitor = try stack.view.monitorObject(bob)
            monitor.addObserver(recorder)
            #expect(monitor.object === bob && monitor.objectID == bob.id)
            let id = bob.id
            try await stack.perform { transaction in
                let bob = try transaction.edit(id)
                try bob.set("age", to: 31)
                try bob.set("friends", to: transaction.fetchAll(EntityQuery("Person").where("email == 'ann'")))
            }
            #expect(recorder.take() == ["will update 30", "updated [\"age\", \"friends\"]"])
            try await stack.perform { _ = try $0.create("Person", ["email": "x"]) }
            #expect(recorder.take().isEmpty)
            try await stack.perform { try $0.delete($0.edit(id)) }
            #expect(recorder.take() == ["deleted true"])
            #expect(try requireFailure { _ = try stack.view.monitorObject(id) }.code == .notFound)
        }
    }

    @Test(arguments: Engine.all)
    func aPublisherAndASequenceHaveTheValuesOfAList(_ engine: Engine) async throws {
        let stored = try Stored(engine, Stored.company, Stored.fillCompany)
        try await Stored.opened(stored.configuration, forWriting: true) { stack in
            let query = EntityQuery("Person").where("age > 25").orderBy("email")
            let publisher = try stack.view.publishList(query, sectionBy: "department.title")
            var counts: [Int] = []
            publisher.addObserver(stored.folder, notifyInitial: true) { counts.append($0.snapshot.count) }
            var updates = try stack.changes(of: query).makeAsyncIterator()
            let first = try #require(try await updates.next())
            #expect(first.changes == nil && first.snapshot.map { $0["email"] } == ["bob", "cid", "dan"])
            try await stack.perform { transaction in
                try transaction.create("Person", ["email": "eve", "age": 35])
                try transaction.deleteAll(EntityQuery("Person").where("email == 'cid'"))
            }
            let second = try #require(try await updates.next())
            #expect(second.snapshot.map { $0["email"] } == ["bob", "dan", "eve"])
            #expect(second.changes?.inserted == [second.snapshot[2].id] && second.changes?.deleted == [first.snapshot[1].id])
            #expect(second.snapshot.objectIDs == second.snapshot.map(\.id) && first.snapshot.count == 3)
            #expect(second.snapshot[0]["department"] == first.snapshot[0]["department"] && second.snapshot[2].values["nickname"] == nil)
            #expect(counts == [3, 3] && publisher.snapshot.sections.map(\.name) == ["", "Research", "Sales"])
            publisher.removeObserver(stored.folder)
            try await stack.perform { _ = try $0.create("Person", ["email": "fay", "age": 35]) }
            #expect(counts == [3, 3])
        }
    }

    @Test func unknownEntitiesCannotBeObserved() async throws {
        let stored = try Stored(.files(.sqlite))
        try await Stored.opened(stored.configuration) { stack in
            #expect(try requireFailure { _ = try stack.view.monitorList(EntityQuery("Persons")) }.code == .storeNotFound)
            #expect(try requireFailure { _ = try stack.view.publishList(EntityQuery("Persons")) }.code == .storeNotFound)
            #expect(try requireFailure { _ = try stack.changes(of: EntityQuery("Persons")) }.code == .storeNotFound)
            let error = try requireFailure { _ = try stack.view.monitorList(EntityQuery("Person"), sectionBy: "friends") }
            #expect(error.code == .invalidPredicate, "\(error)")
        }
    }
}
