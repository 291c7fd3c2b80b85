/// Recognizes an LMDB file whose creation was interrupted.
///
/// LMDB creates a file with one write of two pages, which is flushed before the first transaction. A file that ends within these pages, or contains zeros
/// instead of one of them, was therefore never used.
enum LMDBCreation {
    /// Returns whether a file contains nothing but an incomplete creation. Returns `false` for a file of another program and for a truncated store, whose pages
    /// name a transaction.
    /// - Parameters:
    ///   - isUnflushed: Whether the file may be complete, or end within a sector, which happens only after a failed write or flush.
    ///   - read: Returns the first bytes of the file.
    static func isInterrupted(length: Int, isUnflushed: Bool = false, read: (Int) throws -> [UInt8]) rethrows -> Bool {
        guard length > 0, length <= 2 * LMDBMeta.largestPage, isUnflushed || length % 512 == 0 else { return false }
        let bytes = try read(length)
        if bytes.allSatisfy({ $0 == 0 }) { return true }
        var size = 512
        while size <= LMDBMeta.largestPage {
            if isInterrupted(bytes, pageSize: size, mayBeComplete: isUnflushed) { return true }
            size *= 2
        }
        return false
    }

    private static func isInterrupted(_ bytes: [UInt8], pageSize: Int, mayBeComplete: Bool) -> Bool {
        guard bytes.count <= 2 * pageSize else { return false }
        var complete = 0
        for number in 0..<2 {
            let page = bytes.dropFirst(number * pageSize).prefix(pageSize)
            if page.allSatisfy({ $0 == 0 }) { continue }
            let expected = initialPage(number, pageSize: pageSize)
            // The map size and the environment flags can have any value.
            let isOurs = zip(page.indices, page).allSatisfy { index, byte in
                let offset = index - number * pageSize
                return (32..<40).contains(offset) || (44..<46).contains(offset) || expected[offset] == byte
            }
            guard isOurs else { return false }
            if page.count == pageSize { complete += 1 }
        }
        return complete < 2 || mayBeComplete
    }

    /// Returns the first or second page of a new file, as LMDB writes it.
    static func initialPage(_ number: Int, pageSize: Int) -> [UInt8] {
        var page = [UInt8](repeating: 0, count: pageSize)
        func set<T: FixedWidthInteger>(_ offset: Int, _ value: T) {
            withUnsafeBytes(of: value) { page.replaceSubrange(offset..<offset + $0.count, with: $0) }
        }
        set(0, UInt64(number))
        set(10, UInt16(0x08))
        set(LMDBMeta.headerSize, LMDBMeta.magic)
        set(LMDBMeta.headerSize + 4, LMDBMeta.version)
        set(LMDBMeta.headerSize + 24, UInt32(pageSize))
        set(LMDBMeta.headerSize + 24 + 40, LMDBMeta.noPage)
        set(LMDBMeta.headerSize + 72 + 40, LMDBMeta.noPage)
        set(LMDBMeta.headerSize + 120, UInt64(1))
        return page
    }
}
