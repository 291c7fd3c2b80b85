import ConversionTestSupport
import EngineTestSupport
import Foundation
import PolyStoreBackend
import PolyStoreCore
import SeededRandom
import TestSupport
import Testing

/// Processes that are killed while they convert a store. `POLYSTORE_CONVERSION_KILLS` sets the number of kills, `POLYSTORE_CONVERSION_SEED` the first seed.
@Suite struct ConversionKillTests {
    static let count = TestEnvironment.number("POLYSTORE_CONVERSION_KILLS") ?? Ring.size(4, thorough: 50)
    static let seeds: [UInt64] = {
        let first = UInt64(TestEnvironment.number("POLYSTORE_CONVERSION_SEED") ?? Int.random(in: 1...1_000_000))
        return (0..<UInt64(count)).map { first + $0 }
    }()

    @Test(arguments: seeds) func killedConversionLeavesTheSourceWholeAndIsContinued(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let folder = try Folder()
        let pairs = Pair.persistent
        let pair = try #require(pairs.randomElement(using: &random))
        let people = Int.random(in: 0...Ring.size(600, thorough: 4000), using: &random)
        let sourceURL = try pair.source.url(in: folder, "source")
        let source = try Place.fill(StoreEngines.all.configuration(sourceURL), people: people)
        let expected = try StoreDigest(of: source, logger: RecordingLogger())
        let url = try pair.target.url(in: folder, "target")
        let target = try StoreEngines.all.configuration(url)
        var converted: String?
        var kills = 0
        // Some kills one after another; each run continues the conversion before.
        for _ in 0..<Int.random(in: 1...4, using: &random) where converted == nil {
            let (report, delay) = (Int.random(in: 1...30, using: &random), Int.random(in: 0...3000, using: &random))
            converted = try run(sourceURL, url, report, delay)
            if converted == nil { kills += 1 }
            #expect(try StoreDigest(of: source, logger: RecordingLogger()) == expected, "seed \(seed)")
            if converted == nil, let found = try? StoreDigest(of: target, logger: RecordingLogger()) {
                // Killed after the last commit: then everything is there.
                #expect(found == expected, "seed \(seed)")
                return
            }
        }
        // Without kills the test proves nothing.
        print("conversion \(seed) from \(pair.testDescription), \(people) people: \(kills) kills")
        if converted == nil { converted = try run(sourceURL, url, 0, 0) }
        #expect(converted == "\(expected)", "seed \(seed)")
        #expect(try StoreDigest(of: target, logger: RecordingLogger()) == expected, "seed \(seed)")
        let opened = try SampleStore.open(target)
        #expect(try opened.verify() == [], "seed \(seed)")
        try opened.close()
        #expect(folder.names.allSatisfy { !$0.hasSuffix(".conversion") })
    }

    /// - Returns: The digest that the process printed; nil if it was killed before.
    private func run(_ source: String, _ target: String, _ report: Int, _ delay: Int) throws -> String? {
        let child = try Child(program: "conversion-child", source, target, "\(report)", "\(delay)")
        #expect(child.line() == "ready")
        try child.goOn()
        let line = child.line()
        _ = child.wait()
        guard let line else { return nil }
        let words = line.split(separator: " ")
        guard words.first == "converted", words.count > 1 else {
            Issue.record("\(line)")
            return nil
        }
        return String(words[1])
    }
}
