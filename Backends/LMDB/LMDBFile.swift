import CLMDB
import PolyStoreBackend

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// What can be told of an LMDB file without mapping it. Reading past the end of a mapped file is a bus error, so a file that was cut short must be
/// found out first. Numbers and offsets are those of LMDB 0.9 (`mdb.c`: `MDB_meta`, `MDB_page`, `MDB_node`) on 64-bit systems.
struct LMDBFile {
    let place: FilePlace

    private static let magic: UInt32 = 0xbeef_c0de
    private static let headerSize = 16

    /// Makes sure that there is a file, with the right permissions, and that it is LMDB's.
    func prepare(isReadOnly: Bool, mode: UInt32) throws {
        switch try place.kind() {
        case .file(let bytes): if bytes > 0 { try checkMagic() }
        case .absent:
            guard !isReadOnly else {
                throw StoreError(.io, "There is no file \(place.path), and a store opened for reading only is not made.", url: place.path)
            }
            try place.create(mode: mode)
        case .directory: throw StoreError(.io, "\(place.path) is a folder, not a file.", url: place.path)
        case .other: throw StoreError(.io, "\(place.path) is no ordinary file.", url: place.path)
        }
    }

    /// LMDB's locks are of another file, so reading this one harms none.
    private func reading<Result>(_ body: (Int32) throws -> Result) throws -> Result {
        let descriptor = open(place.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw place.refused("The file cannot be read", errno) }
        defer { Self.close(descriptor) }
        return try body(descriptor)
    }

    private static func close(_ descriptor: Int32) {
        #if canImport(Darwin)
            Darwin.close(descriptor)
        #elseif canImport(Glibc)
            Glibc.close(descriptor)
        #elseif canImport(Musl)
            Musl.close(descriptor)
        #endif
    }

    private func checkMagic() throws {
        try reading { descriptor in
            var head = [UInt8](repeating: 0, count: 24)
            let count = pread(descriptor, &head, head.count, 0)
            let isOurs = count == 24 && head.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 16, as: UInt32.self) } == Self.magic
            guard isOurs else { throw LMDBError.error(MDB_INVALID, "Opening", place.path) }
        }
    }

    /// That every page that can be reached lies within the file.
    ///
    /// The file may well end before the last page that was ever given out, as pages that are free again before they were written never are. Only if
    /// it does is the tree gone through, with plain reads.
    func checkLength(_ environment: OpaquePointer) throws {
        var info = MDB_envinfo()
        var stat = MDB_stat()
        mdb_env_info(environment, &info)
        mdb_env_stat(environment, &stat)
        guard case .file(let bytes) = try place.kind(), bytes > 0 else { return }
        let pageSize = Int(stat.ms_psize)
        if bytes >= (info.me_last_pgno + 1) * pageSize { return }
        try reading { descriptor in
            guard
                try PageWalk(descriptor: descriptor, pageSize: pageSize, length: bytes, last: info.me_last_pgno).isWhole(info.me_last_txnid)
            else {
                throw StoreError(
                    .corrupt,
                    "The file \(place.path) was cut short: it has \(bytes) bytes, and pages up to \((info.me_last_pgno + 1) * pageSize) are in use.",
                    url: place.path)
            }
        }
    }

    /// Goes over the pages of both trees, the free list's and the data's.
    private struct PageWalk {
        let descriptor: Int32
        let pageSize: Int
        let length: Int
        let last: Int

        private static let none = UInt64.max

        /// - Returns: false where a page is not in the file.
        func isWhole(_ transaction: Int) throws -> Bool {
            // Of the two first pages the one that the last transaction wrote counts.
            for number in 0..<2 {
                guard let page = page(UInt64(number), size: 160) else { return false }
                let written: UInt64 = word(page, headerSize + 128)
                guard written == UInt64(transaction) else { continue }
                for root in [word(page, headerSize + 24 + 40) as UInt64, word(page, headerSize + 24 + 88) as UInt64] where root != Self.none
                {
                    guard walk(root, depth: 0) else { return false }
                }
                return true
            }
            return false
        }

        private func page(_ number: UInt64, size: Int) -> [UInt8]? {
            guard number <= UInt64(last), (Int(number) + 1) * pageSize <= length else { return nil }
            var bytes = [UInt8](repeating: 0, count: size)
            return pread(descriptor, &bytes, size, off_t(Int(number) * pageSize)) == size ? bytes : nil
        }

        private func word<T: FixedWidthInteger>(_ bytes: [UInt8], _ offset: Int) -> T {
            guard offset >= 0, offset + MemoryLayout<T>.size <= bytes.count else { return 0 }
            return bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: T.self) }
        }

        private func walk(_ number: UInt64, depth: Int) -> Bool {
            guard depth < 32, let bytes = page(number, size: pageSize) else { return false }
            let flags: UInt16 = word(bytes, 10)
            let lower: UInt16 = word(bytes, 12)
            let count = (Int(lower) - headerSize) / 2
            guard count >= 0, headerSize + 2 * count <= pageSize else { return false }
            for index in 0..<count {
                let node = Int(word(bytes, headerSize + 2 * index) as UInt16)
                let low: UInt16 = word(bytes, node)
                let high: UInt16 = word(bytes, node + 2)
                let nodeFlags: UInt16 = word(bytes, node + 4)
                let keySize: UInt16 = word(bytes, node + 6)
                if flags & 1 != 0 {
                    let child = UInt64(low) | UInt64(high) << 16 | UInt64(nodeFlags) << 32
                    guard walk(child, depth: depth + 1) else { return false }
                } else if nodeFlags & 1 != 0 {
                    // The value has pages of its own.
                    let start: UInt64 = word(bytes, node + 8 + Int(keySize))
                    let size = Int(low) | Int(high) << 16
                    guard start <= UInt64(last), Int(start) * pageSize + headerSize + size <= length else { return false }
                }
            }
            return true
        }
    }
}
