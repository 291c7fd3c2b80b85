import Foundation

/// The sizes of the data set. All derive from `n`, which `PB_N` sets; the same numbers as in Peers/C/data.h.
public enum PB {
    /// The number of persons.
    public static let n = ProcessInfo.processInfo.environment["PB_N"].flatMap { Int($0) } ?? 100_000
    /// The departments; the operations of W3; the fetches of W4 and their limit; the repetitions of W5 and W6.
    public static let departments = max(1, n / 100), lookups = n, ranges = max(1, n / 100), limit = 100, scans = 10
    /// The objects of W7, W9 and W11.
    public static let updates = n / 10, deletes = n / 10, imports = n
    /// The commits of W8 and W8b.
    public static let durable = min(500, n / 10), relaxed = min(5000, n / 2)
    /// The callers of W8c, which `PB_CALLERS` sets, the number of their commits, which `PB_COMMITS` sets, and the number of the process among several that run it, in `PB_PROCESS`.
    public static let callers = number("PB_CALLERS") ?? 64
    public static let concurrent = number("PB_COMMITS") ?? 64 * max(1, min(50, n / 500))
    /// The number of the process.
    public static let process = number("PB_PROCESS") ?? 0

    private static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }

    /// The changes of W13, and the limit of its list: persons younger than this, a tenth of all.
    public static let listChanges = 100, listAge = 10

    // Ids of the generator for persons that are inserted later.
    public static let importID = Int64(n) + 1, importedID = 2 * Int64(n) + 1, durableID = 3 * Int64(n) + 1, relaxedID = 4 * Int64(n) + 1
    public static let sourceID = 6 * Int64(n) + 1, concurrentID = 7 * Int64(n) + 1 + Int64(process * concurrent)

    /// A Boolean value that indicates whether every byte is hashed after each workload, without being measured.
    public static let verify = (ProcessInfo.processInfo.environment["PB_VERIFY"].flatMap { Int($0) } ?? 0) != 0
}
