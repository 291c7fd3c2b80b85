import Foundation
import PolyStore
import PolyStoreMemory
import Testing

enum Noise: String, Sendable { case low, loud }

@Model(isAbstract: true, subentities: "Hound", "Parrot")
class Pet {
    var name: String = ""
    @Relationship(inverse: "pets") var keeper: Keeper?
}

@Model
final class Hound: Pet {
    var speed: Int = 3
    var noise: Noise = Noise.low
}

@Model
final class Parrot: Pet { var words: [String] = [] }

@Model
final class Keeper {
    var name: String = ""
    @Relationship var pets: Set<Pet>
}

/// Snapshots of objects of a hierarchy of classes.
@Suite struct HierarchySnapshotTests {
    private func stack() throws -> DataStack {
        let stack = try DataStack(Schema("Pets", Pet.self, Hound.self, Parrot.self, Keeper.self))
        try stack.addStore(.inMemory())
        return stack
    }

    @Test func inheritedValuesAreReadByTheKeyPathsOfEachClass() async throws {
        let stack = try stack()
        let (rex, ann) = try stack.performAndWait { transaction throws in
            let keeper = try transaction.create(Into<Keeper>())
            let hound = try transaction.create(Into<Hound>())
            (hound.name, hound.speed, hound.noise, hound.keeper) = ("Rex", 9, .loud, keeper)
            return (hound.objectID, keeper.objectID)
        }
        let hound = try #require(try stack.readAndWait { try $0.fetchSnapshot(rex) })
        #expect(hound.name == "Rex" && hound.speed == 9 && hound.noise == .loud && hound.keeper == ann)
        let petID = try #require(rex.cast(to: Pet.self))
        let pet = try #require(try stack.readAndWait { try $0.fetchSnapshot(petID) })
        #expect(pet.name == "Rex" && pet.keeper == ann)
    }

    @Test func aListOfTheRootFollowsObjectsOfAllClasses() async throws {
        let stack = try stack()
        let pets = stack.changes(of: From<Pet>().orderBy(.ascending(\.name)))
        var updates = CheckedUpdates(pets)
        var hounds = stack.snapshots(of: From<Hound>().orderBy(.ascending(\.name))).makeAsyncIterator()
        _ = try await updates.next()
        #expect(try await hounds.next()?.isEmpty == true)
        try stack.performAndWait { transaction throws in
            try transaction.create(Into<Hound>()).name = "Rex"
            try transaction.create(Into<Parrot>()).name = "Ada"
        }
        #expect(try await updates.next()?.inserted.count == 2)
        #expect(updates.snapshot?.map(\.name) == ["Ada", "Rex"])
        #expect(try await hounds.next()?.map(\.name) == ["Rex"])
        try stack.performAndWait { transaction throws in
            try transaction.fetchOne(From<Hound>())?.speed = 10
        }
        // The list of the root has the values of the root.
        #expect(try await hounds.next()?.map(\.speed) == [10])
        try stack.performAndWait { transaction throws in try transaction.fetchOne(From<Parrot>())?.name = "Zoe" }
        #expect(try await updates.next()?.moved.count == 1)
        #expect(updates.snapshot?.map(\.name) == ["Rex", "Zoe"])
    }
}
