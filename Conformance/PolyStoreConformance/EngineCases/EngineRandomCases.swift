import PolyStoreBackend
import PolyStoreKeyValue
import SeededRandom

/// Random operations, compared with a sorted array.
let engineRandomCases: [EngineCase] = (1...12).map { seed in
    EngineCase(
        "engine.random.seed-\(seed)", "Random batches, snapshots, scans and reopenings match a sorted array (seed \(seed))."
    ) { run in try EngineOracle(run, seed: UInt64(seed)).play(steps: 120) }
}

/// Random operations on an engine, compared with a sorted array.
public struct EngineOracle {
    private let run: EngineRun
    private let seed: UInt64
    private var random: SplitMix64
    private var model: [Bytes: Bytes] = [:]
    /// The open snapshots with their expected contents.
    private var snapshots: [(TestSnapshot, [EngineEntry])] = []

    init(_ run: EngineRun, seed: UInt64) {
        self.run = run
        self.seed = seed
        random = SplitMix64(seed: seed)
    }

    /// Runs one random case. The failure contains the seed and the step.
    public static func run(seed: UInt64, steps: Int = 200, on target: EngineTarget) async throws {
        try await EngineCase.run("engine.random.seed-\(seed)", on: target, timeLimit: ConformanceCase.timeLimit) { run in
            try EngineOracle(run, seed: seed).play(steps: steps)
        }
    }

    func play(steps: Int) throws {
        var copy = self
        try copy.perform(steps)
    }

    private mutating func perform(_ steps: Int) throws {
        var open = try run.open()
        defer { for (snapshot, _) in snapshots { snapshot.end() } }
        for step in 0..<steps {
            let context = "seed \(seed), step \(step)"
            switch random.below(12) {
            case 0...3:
                let changes = (0..<random.below(random.once(in: 5) ? 150 : 8)).map { _ in
                    EngineChange(key(), random.once(in: 3) ? nil : value())
                }
                try open.apply(changes, random.once(in: 8) ? open.strongest : .relaxed)
                for change in changes { model[change.key] = change.value }
            case 4: if snapshots.count < 4 { snapshots.append((try open.snapshot(), entries)) }
            case 5:
                if !snapshots.isEmpty { snapshots.remove(at: random.below(snapshots.count)).0.end() }
            case 6:
                guard run.target.features.contains(.persistence), snapshots.isEmpty else { break }
                open.close()
                open = try run.open()
                try run.expect(try open.contents() == entries, "\(context): other contents after opening again")
            default:
                let current = try open.snapshot()
                defer { current.end() }
                let (snapshot, expected) =
                    snapshots.isEmpty || random.once(in: 2) ? (current, entries) : snapshots[random.below(snapshots.count)]
                try checkCursor(snapshot, expected, context)
            }
        }
        for (snapshot, expected) in snapshots { try run.expect(try snapshot.contents() == expected, "seed \(seed): a snapshot at the end") }
        try run.expect(try open.contents() == entries, "seed \(seed): the contents at the end")
        try run.expect(try open.engine.verify(), equals: [], "seed \(seed): verify")
    }

    private var entries: [EngineEntry] { model.map { EngineEntry(key: $0, value: $1) }.sorted }

    private mutating func key() -> Bytes {
        // Short keys of few bytes are likely to repeat; some keys are long.
        let count = random.once(in: 20) ? 1 + random.below(KeyWriter.longestKey) : 1 + random.below(3)
        let bytes: Bytes = [0, 1, 0x10, 0x41, 0x7F, 0x80, 0xFE, 0xFF]
        return (0..<count).map { _ in random.pick(bytes) }
    }

    private mutating func value() -> Bytes {
        let count = random.once(in: 25) ? random.below(30_000) : random.below(60)
        let byte = UInt8(random.below(256))
        return Bytes(repeating: byte, count: count)
    }

    /// Runs cursor moves and lookups.
    private mutating func checkCursor(_ snapshot: TestSnapshot, _ expected: [EngineEntry], _ context: String) throws {
        for _ in 0..<4 {
            let key = key()
            try run.expect(try snapshot[key] == expected.first { $0.key == key }?.value, "\(context): get \(hex(key))")
        }
        let cursor = try snapshot.cursor()
        defer { cursor.close() }
        /// The expected position of the cursor; `nil` if it is unpositioned.
        var position: Int?
        for _ in 0..<30 {
            let (isThere, move): (Bool, String)
            switch position == nil ? random.below(3) : random.below(12) {
            case 0:
                let key = random.once(in: 6) ? [] : key()
                (isThere, move) = (try cursor.seek(key), "seek \(hex(key))")
                position = expected.firstIndex { !$0.key.lexicographicallyPrecedes(key) }
            case 1:
                (isThere, move) = (try cursor.last(), "last")
                position = expected.indices.last
            case 2:
                let key = key()
                (isThere, move) = (try cursor.seek(before: key), "seek before \(hex(key))")
                position = expected.lastIndex { $0.key.lexicographicallyPrecedes(key) }
            case 3...7:
                (isThere, move) = (try cursor.next(), "next")
                position = position.flatMap { $0 + 1 < expected.count ? $0 + 1 : nil }
            default:
                (isThere, move) = (try cursor.previous(), "previous")
                position = position.flatMap { $0 > 0 ? $0 - 1 : nil }
            }
            try run.expect(isThere ? cursor.entry : nil, equals: position.map { expected[$0] }, "\(context): \(move)")
        }
    }
}
