import Foundation
import PolyStore
import TestSupport
import Testing

/// The values of an object, independent of the object.
@Suite struct ObjectSnapshotTests {
    private func full(_ workplace: Workplace) throws -> (ObjectID<Worker>, ObjectID<Team>) {
        try workplace.stack.performAndWait { transaction throws in
            let worker = try transaction.create(Into<Worker>())
            let team = try transaction.create(Into<Team>())
            (worker.name, worker.age, worker.city) = ("Jané\0", -7, "Kobe")
            (worker.mood, worker.lastMood) = (.busy, .calm)
            (worker.tags, worker.home) = (["a", "b"], Address(street: "Elm", number: 3))
            worker.holiday = Address(street: "Beach", number: 1)
            worker.picture = Data([0, 255])
            worker.team = team
            return (worker.objectID, team.objectID)
        }
    }

    @Test(arguments: Backend.forObjectLayer) func everyKindOfValueIsReadByItsKeyPath(backend: Backend) throws {
        let workplace = try Workplace(backend)
        let (id, team) = try full(workplace)
        let snapshot = try #require(try workplace.stack.readAndWait { try $0.fetchSnapshot(id) })
        #expect(snapshot.id == id)
        #expect(snapshot.name == "Jané\0" && snapshot.age == -7 && snapshot.city == "Kobe")
        #expect(snapshot.mood == .busy && snapshot.lastMood == .calm)
        #expect(snapshot.tags == ["a", "b"] && snapshot.home == Address(street: "Elm", number: 3))
        #expect(snapshot.holiday == Address(street: "Beach", number: 1) && snapshot.picture == Data([0, 255]))
        #expect(snapshot.team == team)
        #expect(snapshot[\.name] == "Jané\0" && snapshot[\.team] == team && snapshot[\.mood] == .busy && snapshot[\.home].number == 3)
    }

    @Test(arguments: Backend.forObjectLayer) func missingValuesReadAsNil(backend: Backend) throws {
        let workplace = try Workplace(backend)
        let id = try workplace.insert(("Joe", 3))[0]
        let snapshot = try #require(try workplace.stack.readAndWait { try $0.fetchSnapshot(id) })
        #expect(
            snapshot.city == nil && snapshot.lastMood == nil && snapshot.holiday == nil && snapshot.picture == nil && snapshot.team == nil)
        #expect(snapshot.mood == .calm && snapshot.tags == [] && snapshot.home == Address())
    }

    @Test(arguments: Backend.forObjectLayer) func aSnapshotOutlivesItsObjectAndItsStack(backend: Backend) throws {
        var workplace: Workplace? = try Workplace(backend)
        let id = try #require(try workplace?.insert(("Ann", 30))[0])
        let snapshot = try #require(try workplace?.stack.readAndWait { try $0.fetchSnapshot(id) })
        try workplace?.edit(id) { $0.name = "Bea" }
        try workplace?.delete(id)
        #expect(try workplace?.stack.readAndWait { try $0.fetchSnapshot(id) } == nil)
        workplace = nil
        #expect(snapshot.name == "Ann" && snapshot.id == id)
    }

    @Test(arguments: Backend.forObjectLayer) func equalValuesMakeEqualSnapshots(backend: Backend) throws {
        let workplace = try Workplace(backend)
        let (id, _) = try full(workplace)
        let other = try workplace.insert(("Ann", 30))[0]
        let read: @Sendable (ObjectID<Worker>) throws -> ObjectSnapshot<Worker>? = { id in
            try workplace.stack.readAndWait { try $0.fetchSnapshot(id) }
        }
        let first = try read(id)
        #expect(try first == read(id) && first != read(other))
        // Created from the object, not from its record in the store.
        let ofObject = try workplace.stack.performAndWait { transaction throws in try transaction.edit(id).snapshot() }
        #expect(ofObject == first && ofObject.hashValue == first?.hashValue)
        let pending = try workplace.stack.performAndWait { transaction throws in
            let worker = try transaction.edit(id)
            worker.age += 1
            return try worker.snapshot()
        }
        #expect(pending.age == -6 && pending != first)
        #expect(try pending == read(id))
        #expect(try Set([read(id), read(id), read(other)]).count == 2)
        try workplace.edit(id) { $0.age -= 1 }
        #expect(try first == read(id))
    }

    @Test(arguments: Backend.forObjectLayer) func severalSnapshotsComeInTheOrderOfTheIDs(backend: Backend) throws {
        let workplace = try Workplace(backend)
        let ids = try workplace.insert(("A", 1), ("B", 2), ("C", 3))
        try workplace.delete(ids[1])
        let snapshots = try workplace.stack.readAndWait { try $0.fetchSnapshots([ids[2], ids[1], ids[0]]) }
        #expect(snapshots.map(\.name) == ["C", "A"])
    }

    @Test @MainActor func deletedObjectsGiveTheirLastValuesAndMissingOnesAreNil() async throws {
        let workplace = try Workplace(.memory)
        let ids = try workplace.insert(("Ann", 30), ("Bob", 40))
        let ann = try #require(try workplace.stack.view.fetchExisting(ids[0]))
        try await workplace.stack.perform { try $0.delete(ids[0]) }
        #expect(ann.isDeleted)
        #expect(try ann.snapshot().name == "Ann")
        #expect(try workplace.stack.view.fetchSnapshot(ids[0]) == nil)
        #expect(try workplace.stack.view.fetchSnapshot(ids[1])?.name == "Bob")
    }

    @Test func theDescriptionNamesTheObjectAndItsValues() throws {
        let workplace = try Workplace(.memory)
        let id = try workplace.insert(("Ann", 30))[0]
        let text = try #require(try workplace.stack.readAndWait { try $0.fetchSnapshot(id) }).description
        #expect(text.hasPrefix("Worker \(id.rowID) (") && text.contains("Ann") && text.contains("age: "))
    }

    @Test func aComputedPropertyIsRefused() async {
        await #expect(processExitsWith: .failure) {
            let workplace = try Workplace(.memory)
            let id = try workplace.insert(("Ann", 30))[0]
            let snapshot = try workplace.stack.readAndWait { try $0.fetchSnapshot(id) }
            print(snapshot?.label ?? "")
        }
    }
}
