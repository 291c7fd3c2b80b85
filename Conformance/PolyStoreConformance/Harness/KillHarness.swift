#if os(Linux) || os(macOS)
    import Foundation
    import PolyStoreBackend

    /// Kills a writing process again and again, and checks what it has left: every commit that was acknowledged, each whole, and a sound store.
    ///
    /// The process is a program of the author's that calls ``writeUntilKilled(_:_:)``:
    ///
    ///     // main.swift of a small executable: kill-child PLACE DURABILITY
    ///     let durability = Durability(rawValue: CommandLine.arguments[2]) ?? .full
    ///     try KillHarness.writeUntilKilled(.mine(file: CommandLine.arguments[1]), durability)
    ///
    ///     // in the tests
    ///     let harness = KillHarness(target, program: path) { place, durability in [place.path, durability.rawValue] }
    ///     let report = try await harness.run(kills: 10, durability: .relaxed, seed: 1)
    public struct KillHarness: Sendable {
        private let target: ConformanceTarget
        private let program: String
        private let arguments: @Sendable (ConformancePlace, Durability) -> [String]

        /// - Parameters:
        ///   - program: the path of the executable.
        ///   - arguments: what it is given, so that it opens the store of a place.
        public init(
            _ target: ConformanceTarget, program: String, arguments: @escaping @Sendable (ConformancePlace, Durability) -> [String]
        ) {
            self.target = target
            self.program = program
            self.arguments = arguments
        }

        /// Kills the writer so many times; each goes on with the store that the last kill left.
        /// - Throws: ``ConformanceFailure`` with the kill after which something was lost, half there or damaged.
        public func run(kills: Int, durability: Durability, seed: UInt64) async throws -> KillReport {
            try await onThread { try kill(kills, durability, seed) }
        }

        private func kill(_ kills: Int, _ durability: Durability, _ seed: UInt64) throws -> KillReport {
            let run = try ConformanceRun(target, "kill.\(durability.rawValue).seed-\(seed)")
            defer { try? run.cleanUp() }
            var random = SplitMix(seed)
            var report = KillReport()
            for number in 1...max(1, kills) {
                // By what the writer has done and not by a clock: at the first acknowledgement or at a later one, and a little after it.
                let acknowledgements = random.next(40)
                let pause = random.next(3000)
                let last = try killOne(run, durability, after: acknowledgements, microseconds: pause)
                report.kills += 1
                report.acknowledged = max(report.acknowledged, last)
                let found = try KillSample.check(run, acknowledged: report.acknowledged, "after kill \(number)")
                report.unacknowledged += max(0, found - report.acknowledged)
                // What is there now was seen, and stays.
                report.acknowledged = max(report.acknowledged, found)
            }
            return report
        }

        /// - Returns: the last commit that was acknowledged; 0 for none.
        private func killOne(_ run: ConformanceRun, _ durability: Durability, after lines: Int, microseconds: Int) throws -> Int {
            let process = Process()
            let output = Pipe()
            process.executableURL = URL(fileURLWithPath: program)
            process.arguments = arguments(run.place(), durability)
            process.standardOutput = output
            try process.run()
            defer {
                if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
                process.waitUntilExit()
            }
            var bytes: [UInt8] = []
            while bytes.count(where: { $0 == 10 }) < lines {
                let more = output.fileHandleForReading.availableData
                guard !more.isEmpty else {
                    process.waitUntilExit()
                    throw run.fail("the program \(program) ended by itself, with status \(process.terminationStatus)")
                }
                bytes += more
            }
            usleep(UInt32(microseconds))
            Foundation.kill(process.processIdentifier, SIGKILL)
            bytes += output.fileHandleForReading.readDataToEndOfFile()
            // A last line without its end was not acknowledged.
            let whole = bytes.lastIndex(of: 10).map { bytes[..<$0] } ?? []
            return whole.split(separator: 10).last.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
        }

        /// Writes commit after commit, and prints the number of each on a line of its own once it is acknowledged. Ends only by being killed.
        public static func writeUntilKilled(_ store: StoreConfiguration, _ durability: Durability) throws -> Never {
            let schema = try ResolvedSchema(KillSample.schema)
            let backend = try store.open(schema: schema, configurationName: nil, logger: SilentLogger())
            while true {
                let number = try KillSample.write(backend, schema, durability)
                FileHandle.standardOutput.write(Data("\(number)\n".utf8))
            }
        }
    }

    /// What the kills have left.
    public struct KillReport: Sendable, CustomStringConvertible {
        public internal(set) var kills = 0
        /// The number of the last commit that was acknowledged; all up to it are whole.
        public internal(set) var acknowledged = 0
        /// Commits that were whole although the kill came before their acknowledgement.
        public internal(set) var unacknowledged = 0

        public var description: String {
            "\(kills) kills, \(acknowledged) commits, \(unacknowledged) of them not acknowledged, nothing lost, nothing half there"
        }
    }
#endif
