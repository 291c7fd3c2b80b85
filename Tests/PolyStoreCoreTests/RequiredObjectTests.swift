import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Targets of relationships that a server checks with the change set.
@Suite struct RequiredObjectTests {
    /// A store with departments and people. One department and one person were deleted.
    private struct Firm: Sendable {
        let stack: DataStack
        let departments: [ObjectID<Department>]
        let people: [ObjectID<Person>]

        var gone: ObjectID<Department> { departments[1] }
        var nobody: ObjectID<Person> { people[39] }

        init(_ store: StoreConfiguration) throws {
            stack = try DataStack(companySchema, logger: RecordingLogger(.critical))
            stack.snapshotWarningAge = .seconds(100_000)
            stack.groupLimits.nanoseconds = .max
            stack.groupLimits.backOff.first = .zero
            try stack.addStore(store)
            // So many that row ids for further objects remain.
            (departments, people) = try stack.performAndWait { transaction throws in
                (
                    try (0..<40).map { number in
                        let department = try transaction.create(Department.self)
                        department.title = "d\(number)"
                        return department.objectID
                    }, try (0..<40).map { try transaction.createPerson($0).objectID }
                )
            }
            let (gone, nobody) = (gone, nobody)
            try stack.performAndWait { transaction throws in
                try transaction.delete(gone)
                try transaction.delete(nobody)
            }
        }

        func hire(_ number: Int, in department: ObjectID<Department>) -> @Sendable (Transaction) throws -> Void {
            { try $0.createPerson(number).department = try $0.object(with: department) }
        }

        func count() throws -> Int { try stack.readAndWait { try $0.fetchCount(From<Person>()) } }
    }

    @Test func aTargetThatWasNotReadNeedsNoCall() throws {
        let server = SimulatedServer(beginsLate: true)
        let firm = try Firm(.simulatedServer(server))
        let calls = try server.calls { try firm.stack.performAndWait { try firm.hire(100, in: firm.departments[0])($0) } }
        #expect(calls == [.commit: 1])
        let department = try firm.stack.readAndWait { context throws in
            try context.fetchOne(From<Person>(), OrderBy(.descending(\.age)))?.department?.title
        }
        #expect(department == "d0")
    }

    private enum Step: CaseIterable, Sendable {
        case ofANewObject, ofAnObject, linked, listed, several

        func take(_ transaction: Transaction, _ firm: Firm) throws {
            switch self {
            case .ofANewObject: try firm.hire(100, in: firm.gone)(transaction)
            case .ofAnObject: try transaction.edit(firm.people[0]).department = try transaction.object(with: firm.gone)
            case .linked:
                try transaction.edit(firm.people[0]).friends = [
                    try transaction.object(with: firm.people[1]), try transaction.object(with: firm.nobody),
                ]
            case .listed: try transaction.edit(firm.departments[0]).people.insert(try transaction.object(with: firm.nobody))
            case .several:
                try firm.hire(100, in: firm.gone)(transaction)
                try firm.hire(101, in: firm.departments[0])(transaction)
                try transaction.edit(firm.people[0]).friends = [try transaction.object(with: firm.nobody)]
            }
        }
    }

    @Test(arguments: Step.allCases) private func theErrorIsThatOfALocalStore(_ step: Step) throws {
        let errors = try [StoreConfiguration.inMemory(), .simulatedServer(SimulatedServer(beginsLate: true))].map { store in
            let firm = try Firm(store)
            let error = #expect(throws: StoreError.self) { try firm.stack.performAndWait { try step.take($0, firm) } }
            #expect(try firm.count() == 39)
            return error
        }
        #expect(errors[0]?.code == errors[1]?.code)
        #expect(errors[0]?.message == errors[1]?.message)
        #expect(errors[0]?.entity == errors[1]?.entity && errors[0]?.attribute == errors[1]?.attribute)
        #expect(Set(errors[0]?.violations ?? []) == Set(errors[1]?.violations ?? []))
        #expect(errors[1]?.recovery == .permanent)
    }

    /// A member of an ordered list also has a position, which would be written to it.
    @Test func theErrorOfAnOrderedListIsThatOfALocalStore() throws {
        let errors = try [StoreConfiguration.inMemory(), .simulatedServer(SimulatedServer(beginsLate: true))].map { store in
            let stack = try DataStack(Schema("Music", Playlist.self, Track.self, MusicTag.self), logger: RecordingLogger(.critical))
            try stack.addStore(store)
            let (playlist, track) = try stack.performAndWait { transaction throws in
                let playlist = try transaction.create(Playlist.self)
                playlist.tracks = [try transaction.create(Track.self)]
                return (playlist.objectID, try transaction.create(Track.self).objectID)
            }
            try stack.performAndWait { try $0.delete($0.edit(track)) }
            let error = #expect(throws: StoreError.self) {
                try stack.performAndWait { try $0.edit(playlist).tracks.append($0.object(with: track)) }
            }
            #expect(try stack.readAndWait { try $0.fetchExisting(playlist)?.tracks.count } == 1)
            return error
        }
        #expect(errors[0]?.code == errors[1]?.code && errors[0]?.message == errors[1]?.message)
        #expect(errors[0]?.violations == errors[1]?.violations)
    }

    @Test func onlyTheTransactionWhoseTargetIsMissingFails() async throws {
        let firm = try Firm(.simulatedServer(SimulatedServer(beginsLate: true)))
        let deleted = firm.departments[2]
        let bodies: [@Sendable (Transaction) throws -> Void] = [
            firm.hire(100, in: firm.departments[0]), firm.hire(101, in: firm.gone), firm.hire(102, in: firm.departments[3]),
            { try $0.delete($0.object(with: deleted)) }, firm.hire(103, in: deleted), firm.hire(104, in: firm.departments[3]),
        ]
        let gate = try await QueueGate(firm.stack)
        let tasks = try await QueueGate.line(firm.stack, bodies)
        try await gate.open()
        var codes: [StoreError.Code?] = []
        for task in tasks {
            do {
                try await task.value
                codes.append(nil)
            } catch { codes.append((error as? StoreError)?.code) }
        }
        #expect(codes == [nil, .constraint, nil, nil, .constraint, nil])
        #expect(try firm.count() == 42)
    }
}
