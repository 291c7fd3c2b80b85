import PolyStoreBackend

/// Flips bits in the files of a store and cuts them off, and reads every damaged image in every way: each must throw, or give the right answer.
///
///     let report = try await DamageHarness(target).run(flips: 200, cuts: 50, seed: 1)
///     #expect(report.wrong == [])
///
/// Runs in this process: an engine that crashes on a damaged file ends it, and the image named last on the error output is the one.
public struct DamageHarness: Sendable {
    private let target: ConformanceTarget
    private let sample: DamageSample

    /// - Parameter rows: objects in the store; they are what the files are full of.
    public init(_ target: ConformanceTarget, rows: Int = 300) {
        self.target = target
        sample = DamageSample(rows: max(40, rows))
    }

    /// Damages one image after another. Each is the files of a store that was closed, with one bit flipped or one file cut off.
    /// - Parameter seed: the same seed gives the same images, as far as the engine writes the same files.
    public func run(flips: Int, cuts: Int, seed: UInt64, log: @Sendable (String) -> Void = { _ in }) async throws -> DamageReport {
        let run = try ConformanceRun(target, "damage.seed-\(seed)")
        defer { try? run.cleanUp() }
        try sample.fill(run)
        let answers = try sample.answers(run)
        let files = try StoreFiles(reading: run.folderPath)
        let filled = files.filled
        var report = DamageReport()
        guard !filled.isEmpty else { return report }
        var random = SplitMix(seed)
        let total = filled.reduce(0) { $0 + $1.contents.count }
        for number in 0..<flips + cuts {
            var damaged = files
            let what: String
            if number < flips {
                // Every byte of all files is as likely as any other.
                var position = random.next(total)
                var file = 0
                while position >= filled[file].contents.count {
                    position -= filled[file].contents.count
                    file += 1
                }
                let bit = UInt8(random.next(8))
                damaged.items[filled[file].name]?.contents?[position] ^= 1 << bit
                what = "bit \(bit) of byte \(position) of \(filled[file].name) flipped"
            } else {
                let file = random.pick(filled)
                let length = random.next(file.contents.count)
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

/// What became of the damaged images.
public struct DamageReport: Sendable, CustomStringConvertible {
    public private(set) var images = 0
    /// Could not be opened.
    public private(set) var refused = 0
    /// Were opened, and told of the damage when they were read or verified.
    public private(set) var found = 0
    /// Gave every right answer, and nothing was found: the damage lay where nothing is kept.
    public private(set) var unharmed = 0
    /// A wrong answer without an error, each with what was damaged and what was read.
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

    public var description: String {
        "\(images) damaged images: \(refused) refused, \(found) found when read, \(unharmed) unharmed, \(wrong.count) wrong without an error"
    }
}
