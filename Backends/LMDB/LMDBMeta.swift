/// One of the two pages at the start of an LMDB file that name the roots of its trees: page 0 after even transactions, page 1 after odd ones.
///
/// Numbers and offsets are those of LMDB 0.9 (`mdb.c`: `MDB_page`, `MDB_meta`, `MDB_db`) on 64-bit systems, in the byte order of the machine.
struct LMDBMeta: Equatable {
    /// The size in bytes of the header of every page.
    static let headerSize = 16
    /// The number of bytes in use from the start of the page.
    static let size = headerSize + 136
    /// The root of an empty tree.
    static let noPage = UInt64.max
    static let magic: UInt32 = 0xbeef_c0de
    static let version: UInt32 = 1
    /// LMDB's own limit, `MAX_PAGESIZE`.
    static let largestPage = 32_768
    /// LMDB's own limit, `CURSOR_STACK`.
    static let deepest = 32

    /// The fields of `MDB_db`.
    struct Tree: Equatable {
        let flags: UInt16
        let depth: UInt16
        let entries: UInt64
        let root: UInt64

        fileprivate init(_ bytes: [UInt8], _ offset: Int) {
            flags = bytes.number(offset + 4)
            depth = bytes.number(offset + 6)
            entries = bytes.number(offset + 32)
            root = bytes.number(offset + 40)
        }

        /// - Returns: the problem; `nil` for a valid tree.
        fileprivate func problem(lastPage: UInt64) -> String? {
            if root == LMDBMeta.noPage { return depth == 0 ? nil : "an empty tree has the depth \(depth)" }
            if root < 2 || root > lastPage { return "the root \(root) is not between pages 2 and \(lastPage)" }
            return depth == 0 || depth > LMDBMeta.deepest ? "the depth is \(depth)" : nil
        }
    }

    let pageFlags: UInt16
    let magic: UInt32
    let version: UInt32
    let pageSize: Int
    /// The trees of the free list and of the data.
    let free, main: Tree
    let lastPage: UInt64
    let transaction: UInt64

    /// - Parameter bytes: the first ``size`` bytes of a page.
    init(_ bytes: [UInt8]) {
        pageFlags = bytes.number(10)
        magic = bytes.number(Self.headerSize)
        version = bytes.number(Self.headerSize + 4)
        // LMDB stores it in a field that holds the value size of other trees.
        pageSize = Int(bytes.number(Self.headerSize + 24) as UInt32)
        free = Tree(bytes, Self.headerSize + 24)
        main = Tree(bytes, Self.headerSize + 72)
        lastPage = bytes.number(Self.headerSize + 120)
        transaction = bytes.number(Self.headerSize + 128)
    }

    /// A Boolean value that indicates whether LMDB would accept the page as a meta page.
    var isMeta: Bool { pageFlags & 0x08 != 0 && magic == Self.magic }

    var hasPageSize: Bool { (512...Self.largestPage).contains(pageSize) && pageSize & (pageSize - 1) == 0 }

    /// A Boolean value that indicates whether the page is unchanged since LMDB created the file.
    var isInitial: Bool {
        isMeta && version == Self.version && hasPageSize && transaction == 0 && lastPage == 1 && free.root == Self.noPage
            && main.root == Self.noPage
    }

    /// Checks the fields that LMDB uses without validation: it divides by the page size, multiplies page numbers by it, and follows the roots.
    /// - Returns: the problem; `nil` if there is none.
    var problem: String? {
        if version != Self.version { return "the format is \(version)" }
        if !hasPageSize { return "the page size is \(pageSize)" }
        // Page numbers in nodes have 48 bits; this also keeps every offset below 2^63.
        if lastPage < 1 || lastPage >= 1 << 47 { return "the last page is \(lastPage)" }
        // MDB_INTEGERKEY, and no other flag that affects the layout of keys or values. The remaining bits are environment flags.
        if free.flags & 0x7e != 0x08 { return "the flags of the free list are \(free.flags)" }
        return free.problem(lastPage: lastPage) ?? main.problem(lastPage: lastPage)
    }
}

extension [UInt8] {
    /// Returns an integer in native byte order; 0 past the end.
    func number<T: FixedWidthInteger>(_ offset: Int) -> T {
        guard offset >= 0, offset <= count - MemoryLayout<T>.size else { return 0 }
        return withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: T.self) }
    }
}
