import PolyStoreBackend
import PolyStorePlatform

/// Releases the pages of the mapped file that a large import leaves resident.
///
/// Every page of the file that a process accesses counts as its memory until the system evicts it, which happens only under memory pressure: an import of a
/// million records makes the whole file resident. The pages are therefore released after a number of written keys. They stay in the page cache, and the next
/// access maps them again.
struct LMDBMappedPages {
    /// The number of written keys after which pages are released. Unordered index keys touch a page each, with which the system maps up to 15 others: 64 MiB.
    static let keysPerRelease = 1024

    private let path: String
    private var writtenKeys = 0
    /// The address range of the mapped file; `nil` if not determined since the last ``forget()``.
    private var region: UnsafeMutableRawBufferPointer?

    init(path: String) { self.path = path }

    /// Discards the address range after the map was moved or closed.
    mutating func forget() { region = nil }

    /// Counts written keys and releases pages. Called in a write transaction and after its commit, while the map cannot be moved or closed.
    mutating func didWrite(_ keys: Int) {
        writtenKeys += keys
        guard writtenKeys >= Self.keysPerRelease else { return }
        writtenKeys = 0
        if region == nil { region = Self.region(of: path) }
        guard let region, let start = region.baseAddress else { return }
        // MADV_DONTNEED loses no data here: the page cache keeps the pages of a shared file mapping.
        madvise(start, region.count, Int32(MADV_DONTNEED))
    }

    /// Finds the shared mapping of a file among the mappings of the process. On systems that do not list mappings, no pages are released.
    private static func region(of path: String) -> UnsafeMutableRawBufferPointer? {
        #if os(Linux)
            var information = stat()
            guard stat(path, &information) == 0, let maps = fopen("/proc/self/maps", "r") else { return nil }
            defer { fclose(maps) }
            var line: UnsafeMutablePointer<CChar>?
            var capacity = 0
            defer { free(line) }
            while getline(&line, &capacity, maps) > 0 {
                guard let line else { break }
                // 7f0000000000-7f1000000000 r--s 00000000 08:01 131 /path
                let fields = String(cString: line).split(separator: " ", maxSplits: 5)
                guard fields.count == 6, fields[1].hasSuffix("s"), fields[2].allSatisfy({ $0 == "0" }),
                    UInt64(fields[4]) == UInt64(information.st_ino)
                else { continue }
                let bounds = fields[0].split(separator: "-").compactMap { UInt(String($0), radix: 16) }
                guard bounds.count == 2, let start = UnsafeMutableRawPointer(bitPattern: bounds[0]), bounds[0] < bounds[1] else { continue }
                return UnsafeMutableRawBufferPointer(start: start, count: Int(bounds[1] - bounds[0]))
            }
        #endif
        return nil
    }
}
