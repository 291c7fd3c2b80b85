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
            while getline(&line, &capacity, maps) > 0, let line {
                if let found = mapping(line, of: UInt64(information.st_ino)) { return found }
            }
        #endif
        return nil
    }

    #if os(Linux)
        /// Returns the addresses in a line of the list of mappings; nil unless it is a shared mapping of a file from its beginning. See proc_pid_maps(5).
        private static func mapping(_ line: UnsafeMutablePointer<CChar>, of inode: UInt64) -> UnsafeMutableRawBufferPointer? {
            // 7f0000000000-7f1000000000 r--s 00000000 08:01 131 /path
            var next = line
            func number(_ radix: Int32) -> UInt64 {
                var end: UnsafeMutablePointer<CChar>?
                defer { next = end ?? next }
                return UInt64(strtoul(next, &end, radix))
            }
            func skip(_ count: Int) { next += min(count, strlen(next)) }
            let start = number(16)
            skip(1)
            let end = number(16)
            skip(4)
            guard next[0] == CChar(UInt8(ascii: "s")) else { return nil }
            skip(1)
            guard number(16) == 0 else { return nil }
            _ = number(16)
            skip(1)
            _ = number(16)
            guard number(10) == inode, start < end, let address = UnsafeMutableRawPointer(bitPattern: UInt(start)) else { return nil }
            return UnsafeMutableRawBufferPointer(start: address, count: Int(end - start))
        }
    #endif
}
