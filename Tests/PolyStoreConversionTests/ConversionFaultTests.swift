import ConversionTestSupport
import Foundation
import PolyStoreBackend
import PolyStoreCore
import SeededRandom
import TestSupport
import Testing

/// Failures of the disk on both sides, and of a server.
@Suite struct ConversionFaultTests {
    private static let count = Ring.size(6, thorough: 60)

    /// Lets system calls below a folder fail while a store is converted, until a conversion ends without a failure.
    /// - Returns: The errors of the conversions.
    private func failing(
        _ calls: FileFaults.Calls, below faulty: Folder, _ code: Int32, _ source: StoreConfiguration, _ target: StoreConfiguration
    ) throws -> [StoreError] {
        var errors: [StoreError] = []
        var at = 1
        while true {
            let faults = FileFaults(calls, below: faulty, at: at, error: code)
            let error = failure { _ = try conversion(source, target).runAndWait() }
            let failed = faults.failed
            faults.end()
            if let error { errors.append(error) }
            guard failed > 0 else { return errors }
            if (try? StoreDigest(of: target, logger: RecordingLogger())) != nil { return errors }
            at += max(1, at / Self.count * 3)
        }
    }

    @Test(.enabled(if: FileFaults.areAvailable), arguments: [Place.sqlite, .lmdb, .levelDB])
    func fullDiskOfTheTargetLeavesATargetThatIsContinued(_ place: Place) throws {
        let (here, there) = (try Folder(), try Folder())
        let (source, target) = (try Place.sqlite.filled(in: here, people: 40), try place.store(in: there, "target"))
        let expected = try StoreDigest(of: source, logger: RecordingLogger())
        let errors = try failing(.space, below: there, ENOSPC, source, target)
        #expect(!errors.isEmpty)
        for error in errors { #expect([.full, .io].contains(error.code), "\(error)") }
        if (try? StoreDigest(of: target, logger: RecordingLogger())) == nil { _ = try conversion(source, target).runAndWait() }
        #expect(try StoreDigest(of: target, logger: RecordingLogger()) == expected)
    }

    @Test(.enabled(if: FileFaults.areAvailable), arguments: [Place.sqlite, .levelDB])
    func unreadableSourceLeavesATargetThatIsContinued(_ place: Place) throws {
        let (here, there) = (try Folder(), try Folder())
        let (source, target) = (try place.filled(in: here, people: 40), try Place.sqlite.store(in: there, "target"))
        let expected = try StoreDigest(of: source, logger: RecordingLogger())
        _ = try failing(.reads, below: here, EIO, source, target)
        if (try? StoreDigest(of: target, logger: RecordingLogger())) == nil { _ = try conversion(source, target).runAndWait() }
        #expect(try StoreDigest(of: target, logger: RecordingLogger()) == expected)
        #expect(try StoreDigest(of: source, logger: RecordingLogger()) == expected)
    }

    @Test func serverThatFailsLeavesATargetThatIsContinued() throws {
        let folder = try Folder()
        let server = SimulatedServer(batchSize: 10)
        let backend = try SampleStore.open(.simulatedServer(server))
        try SampleStore(backend).fill(people: 40)
        let expected = try StoreDigest(of: backend)
        let target = try Place.lmdb.store(in: folder, "target")
        let calls: Set<SimulatedServer.Call> = [.beginRead, .scan, .fetch, .related, .count, .value, .valueNames, .logEntries, .logBounds]
        var failures = 0
        for seed in 0..<UInt64(Self.count) {
            server.fail(percentage: 5, of: calls, seed: seed, with: [.refused, .timeout, .connectionLost(isExecuted: true)])
            var conversion = StoreConversion(from: backend, to: target)
            conversion.logger = RecordingLogger()
            guard failure({ _ = try conversion.runAndWait() }) != nil else { break }
            failures += 1
        }
        server.endFaults()
        #expect(failures > 0)
        if (try? StoreDigest(of: target, logger: RecordingLogger())) == nil {
            _ = try StoreConversion(from: backend, to: target).runAndWait()
        }
        #expect(try StoreDigest(of: target, logger: RecordingLogger()) == expected)
    }
}
