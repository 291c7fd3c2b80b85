import PolyStoreBackend
import PolyStorePlatform

/// The files in the folder of a LevelDB database, by kind and number.
struct LevelDBFiles {
    private(set) var logs: Set<UInt64> = []
    /// The names of tables. Earlier versions of LevelDB used the extension `.sst`.
    private(set) var tables: [UInt64: String] = [:]
    private(set) var manifests: Set<UInt64> = []
    private(set) var hasCurrent = false
    /// A Boolean value that indicates whether the folder contains this library's lock file.
    private(set) var hasLock = false
    /// A Boolean value that indicates whether temporary files of an interrupted creation or opening exist.
    private(set) var hasTemporaries = false
    /// A Boolean value that indicates whether the folder contains files that are not LevelDB's.
    private(set) var hasOthers = false

    init(_ storePath: StorePath) throws {
        for name in try storePath.names() { add(name) }
    }

    private mutating func add(_ name: String) {
        switch name {
        case "LOCK", "LOG", "LOG.old": return
        case "CURRENT": hasCurrent = true
        case LevelDBFolder.lockName: hasLock = true
        default:
            if let number = Self.number(name, "", ".log") {
                logs.insert(number)
            } else if let number = Self.number(name, "", ".ldb") ?? Self.number(name, "", ".sst") {
                tables[number] = name
            } else if let number = Self.number(name, "MANIFEST-", "") {
                manifests.insert(number)
            } else if Self.number(name, "", ".dbtmp") != nil {
                hasTemporaries = true
            } else {
                hasOthers = true
            }
        }
    }

    static func number(_ name: String, _ prefix: String, _ suffix: String) -> UInt64? {
        guard name.hasPrefix(prefix), name.hasSuffix(suffix), name.utf8.count > prefix.utf8.count + suffix.utf8.count else { return nil }
        let digits = name.dropFirst(prefix.count).dropLast(suffix.count)
        return digits.utf8.allSatisfy { (48...57).contains($0) } ? UInt64(digits) : nil
    }

    private static func padded(_ number: UInt64) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 6 - digits.count)) + digits
    }

    static func log(_ number: UInt64) -> String { padded(number) + ".log" }
    static func manifest(_ number: UInt64) -> String { "MANIFEST-" + padded(number) }
    static func temporary(_ number: UInt64) -> String { padded(number) + ".dbtmp" }
}
