import Foundation

/// How much there is of everything. All follows from `n`, which `PB_N` sets; the same numbers as in Peers/C/data.h.
public enum PB {
    public static let n = ProcessInfo.processInfo.environment["PB_N"].flatMap { Int($0) } ?? 100_000
    public static let departments = max(1, n / 100), lookups = n, ranges = max(1, n / 100), limit = 100, scans = 10
    public static let updates = n / 10, deletes = n / 10, imports = n
    public static let durable = min(500, n / 10), relaxed = min(5000, n / 2)
    /// The callers of W8c, and what they commit together.
    public static let callers = 64
    public static let concurrent = 64 * max(1, min(50, n / 500))
    /// The changes of W13, and how far its list goes: persons younger than this, a tenth of all.
    public static let listChanges = 100, listAge = 10

    // Ids of the generator for persons that come later.
    public static let importID = Int64(n) + 1, importedID = 2 * Int64(n) + 1, durableID = 3 * Int64(n) + 1, relaxedID = 4 * Int64(n) + 1
    public static let sourceID = 6 * Int64(n) + 1, concurrentID = 7 * Int64(n) + 1

    /// Whether every byte is checked after each workload, outside the clock.
    public static let verify = (ProcessInfo.processInfo.environment["PB_VERIFY"].flatMap { Int($0) } ?? 0) != 0
}
