import PolyStoreBackend

/// Reads every page of one snapshot of an LMDB file with plain reads, and checks what LMDB assumes without checking: page numbers, offsets and lengths are
/// within bounds, keys ascend, and no page is used twice.
///
/// An LMDB reader must hold the snapshot during the check, so that its pages are not overwritten.
struct LMDBPageCheck {
    private let descriptor: Int32
    private let storePath: StorePath
    private let meta: LMDBMeta
    private let pageSize: Int
    /// The number of pages in the file; the last one may be partial.
    private let pages: UInt64
    private let length: Int
    /// A bit for each page that is known to be in use or free.
    private var seen: [UInt64]
    /// Free pages past the end of the file, which were allocated and freed before they were written.
    private var unwritten: Set<UInt64> = []
    private var findings: [String] = []
    private let reporting: MaintenanceReport
    /// The number of pages of the trees that were read.
    private var readPages = 0
    private static let mostFindings = 100
    /// The size in bytes of a node before its key.
    private static let nodeHeader = 8
    /// LMDB's own limit, `MDB_MAXKEYSIZE`.
    private static let longestKey = 511

    private enum Kind: UInt16 {
        case branch = 0x01
        case leaf = 0x02
        case overflow = 0x04
    }

    private struct Tree {
        let name: String
        let isFreeList: Bool
        let depth: Int
        var entries: UInt64 = 0
    }

    /// - Parameters:
    ///   - meta: The meta page of the snapshot.
    ///   - reporting: Receives the number of checked pages.
    init(_ descriptor: Int32, _ storePath: StorePath, _ meta: LMDBMeta, reporting: @escaping MaintenanceReport) throws {
        self.reporting = reporting
        self.descriptor = descriptor
        self.storePath = storePath
        self.meta = meta
        pageSize = meta.pageSize
        length = try LMDBFile.length(descriptor, storePath)
        pages = UInt64((length + pageSize - 1) / pageSize)
        seen = [UInt64](repeating: 0, count: Int(pages / 64 + 1))
    }

    /// - Returns: a sentence for each damaged page; empty for a sound file.
    mutating func run() throws -> [String] {
        for (name, tree, isFreeList) in [("free list", meta.free, true), ("data", meta.main, false)] where tree.root != LMDBMeta.noPage {
            var state = Tree(name: name, isFreeList: isFreeList, depth: Int(tree.depth))
            try check(tree.root, &state, depth: 1, from: nil, to: nil)
            if findings.isEmpty, state.entries != tree.entries {
                report("The tree of the \(name) has \(state.entries) entries instead of \(tree.entries).")
            }
        }
        // The file may end before the last allocated page if the pages past its end are free.
        if findings.isEmpty, meta.lastPage >= pages, UInt64(unwritten.count) != meta.lastPage - pages + 1 {
            report("The file was cut short: it has \(length) bytes, and pages up to \(meta.lastPage) of \(pageSize) bytes are in use.")
        }
        return findings
    }

    private mutating func report(_ sentence: String) { if findings.count < Self.mostFindings { findings.append(sentence) } }

    /// Records that a page is in use or free.
    /// - Returns: `false` if the page number is invalid or already recorded.
    private mutating func take(_ page: UInt64, isFree: Bool = false, _ user: @autoclosure () -> String) -> Bool {
        guard page >= 2, page <= meta.lastPage else {
            report("\(user()) leads to page \(page), and there are pages 2 to \(meta.lastPage).")
            return false
        }
        if page >= pages {
            if isFree, unwritten.insert(page).inserted { return true }
            report("The file was cut short: it has \(length) bytes, and \(user()) needs page \(page) of \(pageSize) bytes.")
            return false
        }
        let (word, bit) = (Int(page / 64), UInt64(1) << (page % 64))
        guard seen[word] & bit == 0 else {
            report("\(user()) leads to page \(page), which is used elsewhere too.")
            return false
        }
        seen[word] |= bit
        return true
    }

    /// - Returns: `nil` if the file ends within the page.
    private mutating func read(_ page: UInt64) throws -> [UInt8]? {
        let (bytes, count) = try LMDBFile.read(descriptor, storePath, count: pageSize, at: Int(page) * pageSize)
        if count == pageSize { return bytes }
        report("The file was cut short: it has \(length) bytes and ends within page \(page).")
        return nil
    }

    // MARK: Trees

    /// Checks the subtree of a page.
    /// - Parameters:
    ///   - from: The inclusive lower bound of the page's keys.
    ///   - to: The exclusive upper bound of the page's keys.
    private mutating func check(_ number: UInt64, _ tree: inout Tree, depth: Int, from: [UInt8]?, to: [UInt8]?) throws {
        guard findings.count < Self.mostFindings, take(number, "The tree of the \(tree.name)"), let bytes = try read(number) else { return }
        readPages += 1
        // Values that fill pages of their own are not read, so the number of pages is an upper bound.
        if readPages % 256 == 0 { try reporting(MaintenanceProgress(activity: "pages", completed: readPages, total: Int(pages))) }
        let name = "Page \(number) of the \(tree.name)"
        guard bytes.number(0) as UInt64 == number else { return report("\(name) has the number \(bytes.number(0) as UInt64).") }
        let flags: UInt16 = bytes.number(10)
        guard let kind = Kind(rawValue: flags & 0x6f), kind != .overflow else { return report("\(name) has the flags \(flags).") }
        let (lower, upper) = (Int(bytes.number(12) as UInt16), Int(bytes.number(14) as UInt16))
        guard lower >= LMDBMeta.headerSize, lower <= upper, upper <= pageSize, lower % 2 == 0 else {
            return report("\(name) has its bounds at \(lower) and \(upper).")
        }
        let count = (lower - LMDBMeta.headerSize) / 2
        guard count >= (kind == .branch && !tree.isFreeList ? 2 : 1) else { return report("\(name) has \(count) entries.") }
        guard kind == .leaf ? depth == tree.depth : depth < tree.depth else {
            return report("\(name) is \(depth) levels below the root, and there are \(tree.depth).")
        }
        var (used, previous) = (0, from)
        var children: [(page: UInt64, key: [UInt8]?)] = []
        for index in 0..<count {
            let node = Int(bytes.number(LMDBMeta.headerSize + 2 * index) as UInt16)
            guard node >= upper, node % 2 == 0, node + Self.nodeHeader <= pageSize else {
                return report("\(name) has an entry at \(node).")
            }
            let (low, high): (UInt16, UInt16) = (bytes.number(node), bytes.number(node + 2))
            let (nodeFlags, keySize) = (bytes.number(node + 4) as UInt16, Int(bytes.number(node + 6) as UInt16))
            let keyEnd = node + Self.nodeHeader + keySize
            guard keyEnd <= pageSize else { return report("\(name) has a key that leaves the page.") }
            let key = [UInt8](bytes[node + Self.nodeHeader..<keyEnd])
            // LMDB never reads the first key of a branch.
            let isKey = kind == .leaf || index > 0
            if isKey {
                guard tree.isFreeList ? keySize == 8 : (1...Self.longestKey).contains(keySize) else {
                    return report("\(name) has a key of \(keySize) bytes.")
                }
                let isAscending = previous.map { Self.isBelow($0, key, tree) || (index == 0 && $0 == key) } ?? true
                guard isAscending, to.map({ Self.isBelow(key, $0, tree) }) ?? true else { return report("\(name) has keys out of order.") }
                previous = key
            }
            if kind == .branch {
                let child = UInt64(low) | UInt64(high) << 16 | UInt64(nodeFlags) << 32
                children.append((child, isKey ? key : from))
                used += (Self.nodeHeader + keySize + 1) & ~1
            } else {
                tree.entries += 1
                let size = Int(low) | Int(high) << 16
                guard nodeFlags & ~1 == 0 else { return report("\(name) has an entry with the flags \(nodeFlags).") }
                let stored = nodeFlags == 0 ? size : 8
                guard keyEnd + stored <= pageSize else { return report("\(name) has a value that leaves the page.") }
                used += (Self.nodeHeader + keySize + stored + 1) & ~1
                if nodeFlags == 0 {
                    if tree.isFreeList { takeFree([UInt8](bytes[keyEnd..<keyEnd + size]), name) }
                } else {
                    try checkOverflow(bytes.number(keyEnd), size: size, tree, name)
                }
            }
        }
        guard used <= pageSize - upper else { return report("\(name) has entries that overlap.") }
        for (index, child) in children.enumerated() {
            try check(child.page, &tree, depth: depth + 1, from: child.key, to: index + 1 < count ? children[index + 1].key : to)
        }
    }

    /// Compares keys in LMDB's order: by transaction in the free list, by bytes elsewhere.
    private static func isBelow(_ left: [UInt8], _ right: [UInt8], _ tree: Tree) -> Bool {
        if tree.isFreeList { return (left.number(0) as UInt64) < right.number(0) }
        return left.lexicographicallyPrecedes(right)
    }

    /// Checks a value that has its own pages.
    private mutating func checkOverflow(_ start: UInt64, size: Int, _ tree: Tree, _ name: String) throws {
        let needed = (LMDBMeta.headerSize - 1 + size) / pageSize + 1
        guard take(start, name), let bytes = try read(start) else { return }
        let count: UInt32 = bytes.number(12)
        guard bytes.number(0) as UInt64 == start, (bytes.number(10) as UInt16) & 0x6f == Kind.overflow.rawValue, Int(count) >= needed else {
            return report("\(name) leads to page \(start) for a value of \(size) bytes, which it does not hold.")
        }
        for page in 1..<UInt64(max(count, 1)) { guard take(start + page, name) else { return } }
        // LMDB writes these pages completely.
        let end = Int(start) * pageSize + LMDBMeta.headerSize + size
        guard end <= length else { return report("The file was cut short: it has \(length) bytes, and \(name) needs \(end).") }
        guard tree.isFreeList else { return }
        let offset = Int(start) * pageSize + LMDBMeta.headerSize
        takeFree(try LMDBFile.read(descriptor, storePath, count: size, at: offset).bytes, name)
    }

    /// Records the pages of a list of free pages, which begins with its length.
    private mutating func takeFree(_ list: [UInt8], _ name: String) {
        let count: UInt64 = list.number(0)
        guard list.count >= 8, list.count % 8 == 0, count < UInt64(list.count / 8) else {
            return report("\(name) has a list of \(count) free pages in \(list.count) bytes.")
        }
        var last = UInt64.max
        for index in 0..<Int(count) {
            let page: UInt64 = list.number(8 * (index + 1))
            guard page < last else { return report("\(name) has free pages out of order.") }
            last = page
            guard take(page, isFree: true, name) else { return }
        }
    }
}
