import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Sets, which are equal in any order of their elements, and NaN, which is one value in a store although it does not equal itself in Swift.
@Suite struct OddValueTests {
    private static let never = Date(timeIntervalSinceReferenceDate: .nan)
    private static let words = Set((0..<40).map { "word \($0)" })
    private static let nested = Set((0..<6).map { Set($0..<$0 + 20) })

    /// Returns the same elements in a set with another iteration order, from another insertion order and capacity.
    private static func shuffled<E>(_ set: Set<E>, _ seed: Int) -> Set<E> {
        var copy = Set<E>(minimumCapacity: set.count * (4 << seed))
        for element in Array(set).reversed() { copy.insert(element) }
        return copy
    }

    private static func again(_ reading: Reading, _ seed: Int) {
        reading.tags = shuffled(words, seed)
        reading.marks = reading.marks.map { shuffled(Set($0.map { shuffled($0, seed) }), seed) }
        reading.value = .nan
        reading.ratio = -.nan
        reading.taken = Date(timeIntervalSinceReferenceDate: .signalingNaN)
    }

    private func stack(_ backend: Backend, _ folder: Folder) throws -> (DataStack, ObjectID<Reading>) {
        let stack = try DataStack(Schema("Readings", Reading.self), logger: RecordingLogger())
        try stack.addStore(backend.store(in: folder))
        let id = try stack.performAndWait { transaction throws in
            let reading = try transaction.create(Into<Reading>())
            (reading.tags, reading.marks, reading.value, reading.taken) = (Self.words, Self.nested, .nan, Self.never)
            return reading.objectID
        }
        return (stack, id)
    }

    @Test(arguments: Backend.forObjectLayer)
    func equalValuesAreNoChange(_ backend: Backend) throws {
        let folder = try Folder()
        let (stack, id) = try stack(backend, folder)
        try stack.performAndWait { try $0.edit(id).ratio = 0 }
        for seed in 0..<4 {
            try stack.performAndWait { transaction throws in
                let reading = try transaction.edit(id)
                Self.again(reading, seed)
                reading.ratio = 0
                #expect(try reading.changedValues().isEmpty)
                #expect(try !reading.hasPersistentChangedValues())
                #expect(try transaction.fetchCount(From<Reading>().where(\.value == .nan)) == 1)
                #expect(try transaction.fetchCount(From<Reading>().where(\.taken == Self.never)) == 1)
            }
            try stack.readAndWait { context in
                let reading = try #require(try context.fetchExisting(id))
                #expect(reading.tags == Self.words && reading.marks == Self.nested)
                #expect(reading.value.isNaN && reading.taken.timeIntervalSinceReferenceDate.isNaN)
            }
        }
        #expect(try stack.stores[0].verifyAndWait() == [])
    }

    @Test(arguments: Backend.forObjectLayer)
    func equalValuesAreNoConflict(_ backend: Backend) throws {
        let folder = try Folder()
        let (stack, id) = try stack(backend, folder)
        for seed in 0..<4 {
            let draft = stack.beginUnsafe()
            let mine = try draft.edit(id)
            mine.due = Date(timeIntervalSinceReferenceDate: Double(seed))
            Self.again(mine, seed)
            mine.ratio = nil
            try stack.performAndWait { transaction throws in
                let reading = try transaction.edit(id)
                Self.again(reading, 3 - seed)
                reading.ratio = nil
            }
            #expect(try draft.commit())
            #expect(try stack.readAndWait { try $0.fetchExisting(id)?.due.timeIntervalSinceReferenceDate } == Double(seed))
        }
    }

    /// Different values still conflict.
    @Test(arguments: Backend.forObjectLayer)
    func otherValuesAreAConflict(_ backend: Backend) throws {
        let folder = try Folder()
        let (stack, id) = try stack(backend, folder)
        let changes: [(key: String, @Sendable (Reading) -> Void)] = [
            ("tags", { $0.tags.insert("another") }), ("marks", { $0.marks = [[1]] }), ("value", { $0.value = 1 }),
            ("taken", { $0.taken = Date(timeIntervalSinceReferenceDate: 1) }),
        ]
        for (key, change) in changes {
            let draft = stack.beginUnsafe()
            try draft.edit(id).due = Date(timeIntervalSinceReferenceDate: 5)
            try stack.performAndWait { change(try $0.edit(id)) }
            let error = expectError(.conflict) { try draft.commit() }
            #expect(error?.conflicts.map(\.kind) == [.changed(keys: [key])], "\(key)")
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func nanIsInNoRange(_ backend: Backend) throws {
        let folder = try Folder()
        let (stack, id) = try stack(backend, folder)
        let changes: [(key: String, @Sendable (Reading) -> Void)] = [
            ("due", { $0.due = Self.never }), ("ratio", { $0.ratio = .nan }),
            ("due", { $0.due = Date(timeIntervalSinceReferenceDate: -.infinity) }), ("ratio", { $0.ratio = .infinity }),
        ]
        for (key, change) in changes {
            let error = expectError(.constraint) { try stack.performAndWait { change(try $0.edit(id)) } }
            #expect(error?.violations.map(\.attribute) == [key])
            #expect(error?.violations.map(\.rule) == [.range])
            #expect(error?.message.contains("Reading.\(key) of object \(id.rowID) is ") == true, "\(String(describing: error))")
        }
    }

    /// Foundation cannot describe dates that are not finite.
    @Test(arguments: Backend.forObjectLayer)
    func nonFiniteNumbersArePrinted(_ backend: Backend) throws {
        let folder = try Folder()
        let (stack, id) = try stack(backend, folder)
        try stack.performAndWait { transaction throws in
            let reading = try transaction.edit(id)
            #expect(try "\(reading.committedValues())".contains("nan"))
            for seconds in [Double.infinity, -.infinity, .nan, 1e300, -1e300] {
                reading.taken = Date(timeIntervalSinceReferenceDate: seconds)
                reading.value = seconds
                #expect(!"\(reading) \(String(reflecting: reading)) \(try reading.changedValues())".isEmpty)
                let source = From<Reading>().where(\.taken == Date(timeIntervalSinceReferenceDate: seconds))
                #expect(try transaction.explain(source).contains("store"))
                #expect(try transaction.fetchCount(source) == 1)
                let rows = try transaction.queryAttributes(From<Reading>(), Select("taken", "value"))
                #expect("\(rows)".contains("taken"))
            }
        }
    }
}
