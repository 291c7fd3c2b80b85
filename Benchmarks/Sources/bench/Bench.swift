import Foundation
import PeerKit

/// The workloads of the benchmark through the public object API, on one backend, in one process; prints a line of JSON for each.
///
///     bench ENGINE WHAT FOLDER [N]
///
/// ENGINE is sqlite, lmdb, leveldb or memory. WHAT is one workload, several with commas, or a group; see ``Workload``. FOLDER holds the store;
/// it is made there if a workload needs one. N is the number of persons, 100,000 without.
@main
struct Bench {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard (4...5).contains(arguments.count) else { usage() }
        // Before anything has asked how many.
        if arguments.count == 5 { setenv("PB_N", arguments[4], 1) }
        guard ["sqlite", "lmdb", "leveldb", "memory"].contains(arguments[1]) else { usage() }
        let started = Stamp()
        let store = BenchStore(engine: arguments[1], folder: arguments[3])
        for name in arguments[2].split(separator: ",") {
            guard let workloads = Workload.groups[String(name)] ?? Workload(rawValue: String(name)).map({ [$0] }) else { usage() }
            for workload in workloads { try await workload.run(store, started) }
        }
    }

    private static func usage() -> Never {
        let names = Workload.allCases.map(\.rawValue).joined(separator: " ")
        let groups = Workload.groups.keys.sorted().joined(separator: " ")
        FileHandle.standardError.write(
            Data("usage: bench sqlite|lmdb|leveldb|memory WHAT FOLDER [N]\nworkloads: \(names)\ngroups: \(groups)\n".utf8))
        exit(2)
    }
}
