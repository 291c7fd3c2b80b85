import SeededRandom

#if os(Linux) || os(macOS)
    import ChildProcesses
    import Foundation
    import PolyStoreBackend

    /// Kills a writing process repeatedly and checks the store afterwards: every acknowledged commit is present and complete, and verification finds nothing.
    ///
    /// The process runs a program of the backend's author that calls ``writeUntilKilled(_:_:)``:
    ///
    ///     // main.swift of a small executable: kill-child PLACE DURABILITY
    ///     let durability = Durability(rawValue: CommandLine.arguments[2]) ?? .full
    ///     try KillHarness.writeUntilKilled(.mine(file: CommandLine.arguments[1]), durability)
    ///
    ///     // in the tests
    ///     let harness = KillHarness(target, program: path) { location, durability in [location.path, durability.rawValue] }
    ///     let report = try await harness.run(kills: 10, durability: .relaxed, seed: 1)
    public struct KillHarness: Sendable {
        private let target: ConformanceTarget
        private let program: String
        private let arguments: @Sendable (ConformanceLocation, Durability) -> [String]

        /// - Parameters:
        ///   - target: The backend to test.
        ///   - program: The path of the executable.
        ///   - arguments: Returns the arguments with which it opens the store at a path.
        public init(
            _ target: ConformanceTarget, program: String, arguments: @escaping @Sendable (ConformanceLocation, Durability) -> [String]
        ) {
            self.target = target
            self.program = program
            self.arguments = arguments
        }

        /// Kills the writer a number of times. Each writer continues with the store that the previous kill left.
        /// - Throws: ``ConformanceFailure`` with the kill after which a commit was lost, partial or damaged.
        public func run(kills: Int, durability: Durability, seed: UInt64) async throws -> KillReport {
            try await onThread { try kill(kills, durability, seed) }
        }

        private func kill(_ kills: Int, _ durability: Durability, _ seed: UInt64) throws -> KillReport {
            let run = try ConformanceRun(target, "kill.\(durability.rawValue).seed-\(seed)")
            defer { try? run.cleanUp() }
            var random = SplitMix64(seed: seed)
            var report = KillReport()
            for number in 1...max(1, kills) {
                // Timed by the writer's progress rather than a clock: at the first or a later acknowledgement, and shortly after it.
                let acknowledgements = random.below(40)
                let pause = random.below(3000)
                let last = try killOne(run, durability, after: acknowledgements, microseconds: pause)
                report.kills += 1
                report.acknowledged = max(report.acknowledged, last)
                let found = try KillSample.check(run, acknowledged: report.acknowledged, "after kill \(number)")
                report.unacknowledged += max(0, found - report.acknowledged)
                // The commits that are present now have been read and must stay.
                report.acknowledged = max(report.acknowledged, found)
            }
            return report
        }

        /// - Returns: the last acknowledged commit; 0 for none.
        private func killOne(_ run: ConformanceRun, _ durability: Durability, after lines: Int, microseconds: Int) throws -> Int {
            let process = try ChildProcess(program, arguments(run.location(), durability), output: .pipe)
            var bytes: [UInt8] = []
            while bytes.count(where: { $0 == 10 }) < lines {
                guard let more = process.output?.availableData, !more.isEmpty else {
                    throw run.fail("the program \(program) ended before it was killed, with status \(process.wait())")
                }
                bytes += more
            }
            usleep(UInt32(microseconds))
            process.kill()
            bytes += process.output?.readDataToEndOfFile() ?? Data()
            // A last line without its newline was not acknowledged.
            let whole = bytes.lastIndex(of: 10).map { bytes[..<$0] } ?? []
            return whole.split(separator: 10).last.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
        }

        /// Writes commits continuously, and prints the number of each on a separate line once it is acknowledged. Never returns.
        public static func writeUntilKilled(_ store: StoreConfiguration, _ durability: Durability) throws -> Never {
            let schema = try ResolvedSchema(KillSample.schema)
            let backend = try store.open(schema: schema, configurationName: nil, logger: SilentLogger())
            while true {
                let number = try KillSample.write(backend, schema, durability)
                FileHandle.standardOutput.write(Data("\(number)\n".utf8))
            }
        }
    }

    /// The results of the kills.
    public struct KillReport: Sendable, CustomStringConvertible {
        /// The number of kills.
        public internal(set) var kills = 0
        /// The number of the last commit that was found complete; all commits up to it are complete. The last ones may not have been acknowledged.
        public internal(set) var acknowledged = 0
        /// The number of complete commits that were killed before their acknowledgement.
        public internal(set) var unacknowledged = 0

        /// The counts in one line.
        public var description: String {
            "\(kills) kills, \(acknowledged) commits, \(unacknowledged) of them not acknowledged, nothing lost, nothing incomplete"
        }
    }
#endif
