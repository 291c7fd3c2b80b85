import PolyStoreBackend
import PolyStoreCore
import Testing

/// Has one or two sailors.
final class Crew: Model {
    var _$state: ModelState

    init(_$state state: consuming ModelState) { _$state = state }
    init(_$state state: consuming ModelState, decoding record: RecordView) throws { _$state = state }
    func _$load(_ record: RecordView) throws {}
    func _$encode(into builder: inout RecordBuilder) throws {}
    func _$toOne(_ relationship: Int) -> ToOne { .none }
    func _$setToOne(_ relationship: Int, _ target: ToOne) {}

    var sailors: Set<Sailor> {
        get { _$members(of: 0) }
        set { _$setMembers(of: 0, to: newValue) }
        _modify { yield &self[_$members: 0] }
    }

    static var _$entityName: String { "Crew" }
    static let _$entity = EntityDescription(
        name: "Crew",
        properties: [
            .relationship(RelationshipDescription(name: "sailors", destination: "Sailor", isToMany: true, minCount: 1, maxCount: 2))
        ])
    static let _$properties = ModelProperties(Crew.self, [(\Crew.sailors, "sailors")])
}

final class Sailor: Model {
    var _$state: ModelState
    private var toOnes: [ToOne]

    init(_$state state: consuming ModelState) {
        toOnes = Array(repeating: .none, count: 4)
        _$state = state
    }
    init(_$state state: consuming ModelState, decoding record: RecordView) throws {
        toOnes = (0..<4).map { ToOne(record, $0) }
        _$state = state
    }
    func _$load(_ record: RecordView) throws { toOnes = (0..<4).map { ToOne(record, $0) } }
    func _$encode(into builder: inout RecordBuilder) throws { for field in 0..<4 { toOnes[field].encode(into: &builder, field) } }
    func _$toOne(_ relationship: Int) -> ToOne { toOnes[relationship] }
    func _$setToOne(_ relationship: Int, _ target: ToOne) { toOnes[relationship] = target }

    private func target<T: Model>(_ relationship: Int) -> T? {
        if _$state.isFault { _$fire(relationship) }
        return _$target(of: relationship, toOnes[relationship])
    }
    private func retarget<T: Model>(_ relationship: Int, _ target: T?) {
        _$willChange(relationship)
        toOnes[relationship] = _$retarget(relationship, from: toOnes[relationship], to: target)
    }

    /// Required.
    var crew: Crew? {
        get { target(0) }
        set { retarget(0, newValue) }
    }
    /// Deleted with this one; without an inverse.
    var next: Sailor? {
        get { target(1) }
        set { retarget(1, newValue) }
    }
    /// One to one, with cascade on both sides.
    var buddy: Sailor? {
        get { target(2) }
        set { retarget(2, newValue) }
    }
    /// Denies the deletion of this one.
    var ward: Sailor? {
        get { target(3) }
        set { retarget(3, newValue) }
    }

    static var _$entityName: String { "Sailor" }
    static let _$entity = EntityDescription(
        name: "Sailor",
        properties: [
            .relationship(
                RelationshipDescription(name: "crew", destination: "Crew", isToMany: false, inverse: "sailors", isRequired: true)),
            .relationship(RelationshipDescription(name: "next", destination: "Sailor", isToMany: false, deleteRule: .cascade)),
            .relationship(
                RelationshipDescription(name: "buddy", destination: "Sailor", isToMany: false, inverse: "buddy", deleteRule: .cascade)),
            .relationship(RelationshipDescription(name: "ward", destination: "Sailor", isToMany: false, deleteRule: .deny)),
        ])
    static let _$properties = ModelProperties(
        Sailor.self, [(\Sailor.crew, "crew"), (\Sailor.next, "next"), (\Sailor.buddy, "buddy"), (\Sailor.ward, "ward")])
}

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
        return error?.violations.map { "\($0.entity) \($0.objectID) \($0.attribute ?? "") \($0.rule)" } ?? []
    }

    @Test(arguments: Backend.allCases)
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

    @Test(arguments: Backend.allCases)
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

    @Test(arguments: Backend.allCases)
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

    @Test(arguments: Backend.allCases)
    func denyHoldsWhileTheTargetIsThere(_ backend: Backend) throws {
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

    @Test(arguments: Backend.allCases, Cycle.allCases)
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
