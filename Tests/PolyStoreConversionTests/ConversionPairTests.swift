import ConversionTestSupport
import Foundation
import PolyStoreBackend
import PolyStoreCore
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStoreMemory
import PolyStorePostgreSQL
import PolyStoreSQLite
import TestSupport
import Testing

extension StoreEngines {
    static let all = StoreEngines([.memory, .sqlite, .lmdb, .levelDB, .postgreSQL])
}

/// Conversions between all backends.
@Suite struct ConversionPairTests {
    /// Opens a converted store. One in memory is open already.
    private func open(_ report: ConversionReport) throws -> any StorageBackend { try SampleStore.open(report.configuration) }

    @Test(arguments: Pair.all) func targetHasEverythingThatTheSourceHas(_ pair: Pair) throws {
        let folder = try Folder()
        let source = try pair.source.filled(in: folder)
        let report = try conversion(source, pair.target.store(in: folder, "target")).runAndWait()
        #expect(report.source == report.target)
        #expect(!report.isResumed)
        let digest = pair.source == .memory ? report.source : try StoreDigest(of: source, logger: RecordingLogger())
        #expect(digest == report.source)
        let (before, after) = (try SampleStore.open(source), try open(report))
        #expect(after.metadata.storeID == before.metadata.storeID)
        #expect(after.metadata.schema == before.metadata.schema)
        #expect(after.metadata.configurationName == nil)
        let (left, right) = (try before.beginRead(), try after.beginRead())
        #expect(try left.version == right.version)
        #expect(try left.logBounds() == right.logBounds())
        #expect(try left.logEntries(after: 0, limit: 1000) == right.logEntries(after: 0, limit: 1000))
        #expect(try left.valueNames(prefix: "") == right.valueNames(prefix: ""))
        left.end()
        right.end()
        #expect(try after.verify() == [])
        // Ids of objects that were deleted, or never stored, are not given again.
        let (next, own) = (try before.beginWrite(), try after.beginWrite())
        for entity in try ResolvedSchema(SampleSchema.description).entities {
            #expect(try next.reserveIDs(entity, count: 1) == own.reserveIDs(entity, count: 1))
        }
        next.rollback()
        own.rollback()
        try before.close()
        try after.close()
    }

    @Test(arguments: Pair.all) func convertingBackGivesTheSameDigest(_ pair: Pair) throws {
        let folder = try Folder()
        let source = try pair.source.filled(in: folder, people: 7)
        let there = try conversion(source, pair.target.store(in: folder, "target")).runAndWait()
        let way = there.configuration
        let back: ConversionReport
        if pair.target == .memory {
            let opened = try SampleStore.open(way)
            back = try StoreConversion(from: opened, to: pair.source.store(in: folder, "back")).runAndWait()
        } else {
            back = try conversion(way, pair.source.store(in: folder, "back")).runAndWait()
        }
        #expect(back.target == there.source)
        #expect(back.version == there.version)
        #expect("\(back.target)" == "\(there.source)")
    }

    @Test(arguments: Place.persistent) func emptyStoreIsConverted(_ place: Place) throws {
        let folder = try Folder()
        let source = try place.store(in: folder, "source")
        try SampleStore.open(source).close()
        for target in Place.persistent {
            let report = try conversion(source, target.store(in: folder, "to \(target)")).runAndWait()
            #expect(report.objectCount == 0)
            #expect(report.version == 0)
            let opened = try SampleStore.open(report.configuration)
            #expect(try opened.beginRead().version == 0)
            try opened.close()
        }
    }

    @Test(arguments: Place.persistent) func configurationIsKept(_ place: Place) throws {
        let folder = try Folder()
        let source = try Place.sqlite.filled(in: folder, people: 2, configurationName: "Büro \"1\"")
        let report = try conversion(source, place.store(in: folder, "target")).runAndWait()
        let opened = try SampleStore.open(report.configuration, configurationName: "Büro \"1\"")
        #expect(opened.metadata.configurationName == "Büro \"1\"")
        try opened.close()
    }
}
