import Foundation
import PeerKit

/// The workloads of the benchmark through the public object API, on one backend, in one process; prints a line of JSON for each.
///
///     bench ENGINE WHAT FOLDER [N]
///
/// ENGINE is sqlite, lmdb, leveldb, memory or postgresql. WHAT is one workload, several separated by commas, or a group of them; see ``Workload``. FOLDER contains the
/// store, which is created if a workload needs one. N is the number of persons, by default 100,000.
@main
struct Bench {
    // Not async: workloads then run on the main thread, as those of the peers do, and use its allocator arena.
    static func main() throws {
        let arguments = CommandLine.arguments
        guard (4...5).contains(arguments.count) else { usage() }
        // Before the first access to the number of persons.
        if arguments.count == 5 { setenv("PB_N", arguments[4], 1) }
        guard ["sqlite", "lmdb", "leveldb", "memory", "postgresql"].contains(arguments[1]) else { usage() }
        let workload = Workload(store: BenchStore(engine: arguments[1], folder: arguments[3]), started: Stamp())
        for name in workloads(arguments[2]) { guard try workload.run(name) else { usage() } }
    }

    private static func usage() -> Never {
        let text = """
            usage: bench sqlite|lmdb|leveldb|memory|postgresql WHAT FOLDER [N]
            WHAT: W1 to W17, W20, W21, W3r, W8b, W8c, W11i, M1, M2, several with commas, or load, read, mutate, open, records, prepare

            """
        FileHandle.standardError.write(Data(text.utf8))
        exit(2)
    }
}
