import ConversionTestSupport
import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestSupport
import Testing

/// Targets that do not get what the source has.
@Suite struct ConversionVerificationTests {
    @Test(arguments: AlteringStore.Defect.allCases) func differenceIsNamedAndTheTargetStaysIncomplete(_ defect: AlteringStore.Defect) throws
    {
        let folder = try Folder()
        let source = try Place.sqlite.filled(in: folder, people: 12)
        for place in [Place.sqlite, .lmdb] {
            let target = try place.store(in: folder, "target")
            let error = try requireFailure { _ = try conversion(source, AlteringStore.configuration(target, defect)).runAndWait() }
            #expect(error.code == .corrupt)
            let expected: (entity: String?, rowID: Int64?, text: String) =
                switch defect {
                case .losesObject: ("Person", 4, "Person 4")
                case .altersText: ("Tag", 3, "Tag 3")
                case .losesNull: ("Everything", 1, "Everything 1")
                case .losesLink: ("Person", error.rowID, "Person_pets")
                case .losesPosition: ("Person", error.rowID, "Person_friends")
                case .losesValue: (nil, nil, "named values")
                case .altersEntry: (nil, nil, "history")
                }
            #expect(error.entity == expected.entity)
            #expect(error.rowID == expected.rowID)
            #expect(error.entity == nil || error.rowID != nil)
            #expect(error.message.contains(expected.text), "\(error)")
            #expect(failure { _ = try SampleStore.open(target) }?.code == .differentStoreAtURL)
            // What is wrong is found again when the conversion is continued, and not when it starts over.
            #expect(failure { _ = try conversion(source, target).runAndWait() }?.code == .corrupt)
            var over = try conversion(source, target)
            over.startsOver = true
            #expect(try over.runAndWait().target == StoreDigest(of: source, logger: RecordingLogger()))
        }
    }

    @Test(arguments: Place.persistent) func historyThatWasDeletedCompletelyContinuesAtItsPosition(_ place: Place) throws {
        let folder = try Folder()
        let source = try Place.sqlite.filled(in: folder, people: 1)
        let backend = try SampleStore.open(source)
        let changes = ChangeSet(try ResolvedSchema(SampleSchema.description))
        let reader = try backend.beginRead()
        let last = try reader.logBounds().last
        reader.end()
        changes.removeLogEntries(through: last)
        let writer = try backend.beginWrite()
        try writer.apply(changes)
        _ = try writer.commit(.full)
        try backend.close()
        let target = try place.store(in: folder, "target")
        try ConversionRefusalTests.interrupt(source, target)
        #expect(try conversion(source, target).runAndWait().target.history.count == 0)
        let opened = try SampleStore.open(target)
        let next = try opened.beginWrite()
        #expect(try next.logBounds() == LogBounds(removedThrough: last, last: last))
        let entry = ChangeSet(try ResolvedSchema(SampleSchema.description))
        entry.appendLogEntry([1])
        try next.apply(entry)
        #expect(try next.logEntries(after: 0, limit: 5).map(\.position) == [last + 1])
        next.rollback()
        try opened.close()
    }
}
