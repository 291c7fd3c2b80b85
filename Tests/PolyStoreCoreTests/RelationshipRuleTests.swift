import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Counts, required relationships, deny rules, and cyclic cascades.
@Suite struct RelationshipRuleTests {
    private func stack(_ backend: Backend, _ folder: Folder) throws -> DataStack {
        let stack = try DataStack(Schema("Ship", Crew.self, Sailor.self))
        try stack.addStore(backend.store(in: folder))
        return stack
    }

    /// Creates crews of two sailors.
    private func crew(_ stack: DataStack, sailors: Int = 2) throws -> [ObjectID<Sailor>] {
        try stack.performAndWait { transaction in
            var crew: Crew?
            return try (0..<sailors).map { number in
                if number % 2 == 0 { crew = try transaction.create(Into<Crew>()) }
                let sailor = try transaction.create(Into<Sailor>())
                sailor.crew = crew
                return sailor.objectID
            }
        }
    }

    private func violations(_ stack: DataStack, _ body: @Sendable (Transaction) throws -> Void) -> [String] {
        let error = expectError(.constraint) { try stack.performAndWait { try body($0) } }
        return error?.violations.map { "\($0.entity) \($0.rowID) \($0.attribute ?? "") \($0.rule)" } ?? []
    }

    @Test(arguments: Backend.forObjectLayer)
    func countsHoldForNewAndChangedObjectsFromEitherEnd(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try stack(backend, folder)
        let sailors = try crew(stack, sailors: 4)
        #expect(violations(stack) { _ = try $0.create(Into<Crew>()) } == ["Crew 3 sailors count"])
        // The third of one crew and the last of the other: both violations are reported.
        let moved = violations(stack) { transaction in
            let all = try transaction.fetchExisting(sailors)
            (all[2].crew, all[3].crew) = (all[0].crew, all[0].crew)
        }
        #expect(moved.sorted() == ["Crew 1 sailors count", "Crew 2 sailors count"])
        let set = violations(stack) { transaction in
            let all = try transaction.fetchExisting(sailors)
            try #require(all[0].crew).sailors = [all[0], all[1], all[2]]
        }
        #expect(set == ["Crew 1 sailors count"])
        let gone = violations(stack) { try $0.delete([sailors[2], sailors[3]]) }
        #expect(gone == ["Crew 2 sailors count"])
        // Deleting the sailors with their crew is allowed, and so is an exchange between crews.
        try stack.performAndWait { transaction in
            let all = try transaction.fetchExisting(sailors)
            (all[1].crew, all[2].crew) = (all[2].crew, all[1].crew)
        }
        try stack.performAndWait { transaction in
            let sailor = try transaction.edit(sailors[0])
            let crew = try #require(sailor.crew)
            try transaction.delete(crew.sailors)
            try transaction.delete(crew)
        }
        #expect(try stack.readAndWait { try $0.fetchCount(From<Crew>()) } == 1)
    }

    @Test(arguments: Backend.forObjectLayer)
    func aRequiredRelationshipCannotBeCleared(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try stack(backend, folder)
        let sailors = try crew(stack, sailors: 4)
        #expect(violations(stack) { try $0.edit(sailors[1]).crew = nil } == ["Sailor 2 crew required"])
        let left = violations(stack) { transaction in
            let crew = try #require(try transaction.edit(sailors[0]).crew)
            crew.sailors = crew.sailors.filter { $0.objectID == sailors[0] }
        }
        #expect(left == ["Sailor 2 crew required"])
        // Deleting the crew clears it too.
        let deleted = violations(stack) { transaction in try transaction.delete(try #require(try transaction.edit(sailors[0]).crew)) }
        #expect(deleted.sorted() == ["Sailor 1 crew required", "Sailor 2 crew required"])
    }

    @Test(arguments: Backend.forObjectLayer)
    func allViolationsOfAllObjectsAreInOneError(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try stack(backend, folder)
        let sailors = try crew(stack, sailors: 4)
        try stack.performAndWait { try $0.edit(sailors[3]).ward = try $0.edit(sailors[2]) }
        let found = violations(stack) { transaction in
            for _ in 0..<2 { _ = try transaction.create(Into<Sailor>()) }
            _ = try transaction.create(Into<Crew>())
            try transaction.edit(sailors[0]).crew = nil
            try transaction.delete(sailors[3])
        }
        let keys = try stack.readAndWait { try $0.fetchObjectIDs(From<Sailor>()).map(\.rowID) }
        #expect(keys == [1, 2, 3, 4])
        #expect(found.count == 5)
        #expect(found.filter { $0.hasSuffix("crew required") }.count == 3)
        #expect(found.contains("Crew 3 sailors count") && found.contains("Sailor 4 ward deny"))
    }

    @Test(arguments: Backend.forObjectLayer)
    func aDeletionThatWasUndoneIsNotDenied(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try stack(backend, folder)
        let sailors = try crew(stack)
        try stack.performAndWait { try $0.edit(sailors[0]).ward = try $0.edit(sailors[1]) }
        let draft = stack.beginUnsafe(supportsUndo: true)
        try draft.delete(sailors[0])
        draft.flush()
        expectError(.constraint) { try draft.commit() }
        try draft.undo()
        // Another change, so that there is something to commit.
        let other = try draft.edit(sailors[1])
        other.ward = other
        try draft.commit()
        #expect(try stack.readAndWait { try $0.fetchExisting(sailors[0])?.ward?.objectID } == sailors[1])
    }

    @Test(arguments: Backend.forObjectLayer)
    func denyHoldsWhileTheTargetExists(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try stack(backend, folder)
        let sailors = try crew(stack)
        try stack.performAndWait { transaction in
            let all = try transaction.fetchExisting(sailors)
            (all[0].ward, all[1].ward) = (all[1], all[1])  // the second is its own ward
        }
        #expect(violations(stack) { try $0.delete(sailors[0]) } == ["Sailor 1 ward deny"])
        try stack.performAndWait { transaction in
            let crew = try #require(try transaction.edit(sailors[0]).crew)
            try transaction.delete(sailors)
            try transaction.delete(crew)
        }
        #expect(try stack.readAndWait { try $0.fetchCount(From<Sailor>()) } == 0)
    }

    enum Cycle: String, CaseIterable, CustomTestStringConvertible {
        case itself, pair, oneToOne, ring, chain
        var testDescription: String { rawValue }
        var count: Int { [.ring: 1000, .chain: 1000, .itself: 1][self] ?? 2 }
    }

    @Test(arguments: Backend.forObjectLayer, Cycle.allCases)
    func cascadesEndWhereTheyBegan(_ backend: Backend, _ cycle: Cycle) throws {
        let folder = try Folder()
        let stack = try stack(backend, folder)
        let sailors = try crew(stack, sailors: cycle.count)
        let others = try crew(stack)
        try stack.performAndWait { transaction in
            let all = try transaction.fetchExisting(sailors)
            if cycle == .oneToOne {
                all[0].buddy = all[1]
                #expect(all[1].buddy === all[0])
                return
            }
            for (number, sailor) in all.enumerated() where cycle != .chain || number + 1 < all.count {
                sailor.next = all[(number + 1) % all.count]
            }
        }
        // Deletes the crews first, so that their counts are not violated.
        try stack.performAndWait { transaction in
            let crews = Set(try transaction.fetchExisting(sailors).compactMap(\.crew))
            try transaction.delete(sailors[0])
            for sailor in try transaction.fetchAll(From<Sailor>()) { #expect(others.contains(sailor.objectID)) }
            try transaction.delete(crews)
        }
        #expect(try stack.readAndWait { try $0.fetchObjectIDs(From<Sailor>()) } == others)
        let isVerified = stack.stores[0].capabilities.has(.verification)
        if isVerified { #expect(try stack.stores[0].verifyAndWait() == []) }
    }
}
