import ConformanceTargets
import Foundation
import PolyStoreBackend
import PolyStoreConformance
import TestSupport
import Testing

extension ConformanceTarget: CustomTestStringConvertible {
    /// The backend's name, as the test name.
    public var testDescription: String { name }
}

/// Runs the harnesses on the built-in backends and on faulty ones. `POLYSTORE_KILLS` and `POLYSTORE_DAMAGES` set the number of runs.
@Suite struct HarnessTests {
    private final class Anchor {}

    private static var child: String {
        #if canImport(Darwin)
            Bundle(for: Anchor.self).bundleURL.deletingLastPathComponent().appendingPathComponent("conformance-child").path
        #else
            Bundle.main.bundleURL.appendingPathComponent("conformance-child").path
        #endif
    }

    @Test(arguments: [Targets.sqlite, Targets.lmdb, Targets.levelDB], Durability.allCases)
    func killedProcessLosesNoAcknowledgedCommit(_ target: ConformanceTarget, _ durability: Durability) async throws {
        let harness = KillHarness(target, program: Self.child) { location, durability in
            ["write", target.name, location.path, durability.rawValue]
        }
        let report = try await harness.run(kills: TestEnvironment.number("POLYSTORE_KILLS") ?? 3, durability: durability, seed: 1)
        print("\(target.name) .\(durability.rawValue): \(report)")
        #expect(report.kills > 0 && report.acknowledged > 0)
    }

    /// A program that does not write proves nothing.
    @Test func programThatIsNotKilledIsAFailure() async throws {
        let harness = KillHarness(Targets.sqlite, program: Self.child) { _, _ in ["write", "none", "x", "full"] }
        await #expect(throws: ConformanceFailure.self) { try await harness.run(kills: 3, durability: .full, seed: 1) }
    }

    @Test func damageHarnessDetectsSkippedBlocks() async throws {
        let defective = try #require(DefectiveEngine.all.first { $0.caughtBy.hasPrefix("damage.") })
        let report = try await DamageHarness(defective.backend, rows: 40).run(flips: 12, cuts: 4, seed: 1)
        #expect(!report.wrong.isEmpty, "\(report)")
        for sound in DefectiveEngine.sound {
            let report = try await DamageHarness(sound.backend, rows: 40).run(flips: 12, cuts: 4, seed: 1)
            #expect(report.wrong == [])
            #expect(report.images == 16 && report.refused + report.found > 0)
        }
    }

    /// Every N-th operation of the record layer fails, alone or with all later ones.
    @Test(arguments: [false, true])
    func injectedFaultsCauseOnlyErrors(isForEver: Bool) async throws {
        for engine in [Engines.memory, DefectiveEngine.sound[0].engine] {
            let report = try await FaultHarness(engine).run(every: 17, isForEver: isForEver)
            print("faults \(engine.name): \(report)")
            #expect(report.wrong == [])
            #expect(report.faults > 10 && report.errors > 10)
        }
    }

    /// The fault harness detects an engine that applies part of a failing batch.
    @Test func tornBatchIsDetected() async throws {
        let (handle, plan) = (try FaultPlanTarget.handle(), FaultPlan())
        plan.add(.tear(StoreError(.io, "The batch is torn.")), to: .apply, number: 3)
        let engine = FaultyEngine(handle, plan)
        var seen: [Int] = []
        for number in 1...4 as ClosedRange<UInt8> {
            do { try engine.apply(FaultPlanTarget.batch(number), .relaxed) } catch is StoreError { #expect(number == 3) }
            seen.append(try FaultPlanTarget.count(engine))
        }
        #expect(seen == [10, 20, 25, 35])
        #expect(plan.count(.apply) == 4)
        engine.close()
    }
}
