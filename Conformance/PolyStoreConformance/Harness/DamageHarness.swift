import PolyStoreBackend
import SeededRandom

/// Flips bits in the files of a store and truncates them, and reads every damaged image in every way: each read must throw or return the correct result.
///
///     let report = try await DamageHarness(target).run(flips: 200, cuts: 50, seed: 1)
///     #expect(report.wrong == [])
///
/// It runs in this process: an engine that crashes on a damaged file ends the process, and the last image printed to standard error is the cause.
public struct DamageHarness: Sendable {
    private let target: ConformanceTarget
    private let sample: DamageSample

    /// - Parameters:
    ///   - target: The backend to test.
    ///   - rows: The number of objects in the store, which make up most of the files.
    public init(_ target: ConformanceTarget, rows: Int = 300) {
        self.target = target
        sample = DamageSample(rows: max(40, rows))
    }

    /// Tests damaged images in sequence. Each consists of the files of a closed store, with one bit flipped or one file truncated.
    /// - Parameters:
    ///   - flips: The number of images with one flipped bit.
    ///   - cuts: The number of images with one truncated file.
    ///   - seed: The seed of the images. The same seed yields the same images if the engine writes the same files.
    ///   - log: Receives a message for each image.
    public func run(flips: Int, cuts: Int, seed: UInt64, log: @Sendable (String) -> Void = { _ in }) async throws -> DamageReport {
        let run = try ConformanceRun(target, "damage.seed-\(seed)")
        defer { try? run.cleanUp() }
        try sample.fill(run)
        let answers = try sample.answers(run)
        let files = try StoreFiles(reading: run.folderPath)
        let filled = files.filled
        var report = DamageReport()
        guard !filled.isEmpty else { return report }
        var random = SplitMix64(seed: seed)
        let total = filled.reduce(0) { $0 + $1.contents.count }
        for number in 0..<flips + cuts {
            var damaged = files
            let what: String
            if number < flips {
                // Every byte of all files is equally likely.
                var position = random.below(total)
                var file = 0
                while position >= filled[file].contents.count {
                    position -= filled[file].contents.count
                    file += 1
                }
                let bit = UInt8(random.below(8))
                damaged.items[filled[file].name]?.contents?[position] ^= 1 << bit
                what = "bit \(bit) of byte \(position) of \(filled[file].name) flipped"
            } else {
                let file = random.pick(filled)
                let length = random.below(file.contents.count)
                damaged.items[file.name]?.contents?.removeLast(file.contents.count - length)
                what = "\(file.name) cut from \(file.contents.count) to \(length) bytes"
            }
            log(what)
            try damaged.write(to: run.folderPath)
            report.add(what, try sample.compare(run, with: answers))
        }
        return report
    }
}

/// The results of the damaged images.
public struct DamageReport: Sendable, CustomStringConvertible {
    /// The number of images.
    public private(set) var images = 0
    /// The number of images that could not be opened.
    public private(set) var refused = 0
    /// The number of images that were opened, and whose damage was reported by a read or by verification.
    public private(set) var found = 0
    /// The number of images with only correct results and no findings: the damage was in unused bytes.
    public private(set) var unharmed = 0
    /// Wrong results without an error, each with the damage and the read.
    public private(set) var wrong: [String] = []

    mutating func add(_ what: String, _ outcome: DamageSample.Outcome) {
        images += 1
        if outcome.isRefused {
            refused += 1
        } else if outcome.isFound {
            found += 1
        } else if outcome.wrong.isEmpty {
            unharmed += 1
        }
        if !outcome.wrong.isEmpty { wrong.append("\(what): \(outcome.wrong.joined(separator: "; "))") }
    }

    /// The counts in one line.
    public var description: String {
        "\(images) damaged images: \(refused) refused, \(found) found when read, \(unharmed) unharmed, \(wrong.count) wrong without an error"
    }
}
