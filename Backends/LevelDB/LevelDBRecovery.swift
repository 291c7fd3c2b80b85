import PolyStoreBackend

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Checks the files of a database before LevelDB opens it, and cuts off what a crash has left unfinished.
///
/// LevelDB itself opens a shortened MANIFEST or log without an error and deletes the files that the missing part refers to, and it refuses the torn end
/// that a power cut leaves behind. See decision 016.
struct LevelDBRecovery {
    let place: FilePlace
    /// What is known to be durable; nil where no version of this library that keeps a mark has had the store open.
    let mark: LevelDBMark?
    /// Whether damage is cut off too.
    let repairs: Bool
    private var path: String { place.path }

    init(_ place: FilePlace, mark: LevelDBMark?, repairs: Bool) {
        self.place = place
        self.mark = mark
        self.repairs = repairs
    }

    /// A file that is to be cut, and where.
    private struct Cut {
        let name: String
        let size: Int
        /// Whether acknowledged commits are cut off.
        let isDamage: Bool
    }

    /// - Throws: `corrupt` if acknowledged commits are missing; `io`; `busy`.
    func run() throws {
        let files = try LevelDBFiles(place)
        guard files.hasCurrent, let (number, manifest) = try manifest(files) else { return }
        var cuts = try logCuts(files, manifest)
        if let end = manifest.end {
            cuts.append(Cut(name: LevelDBFiles.manifest(number), size: end.record, isDamage: try checkEnd(of: number, end)))
        }
        guard !cuts.isEmpty else { return }
        try checkUnused()
        // The last file first: if this is interrupted, the next opening finds the first break again.
        for cut in cuts.reversed() { try perform(cut) }
    }

    private func damaged(_ what: String, canRepair: Bool = false) -> StoreError {
        let repair = canRepair ? ", or keep the commits before the damage with LevelDBOptions.repairsLog" : ""
        return StoreError(.corrupt, "The store \(path) is damaged: \(what). Restore a backup\(repair).", url: path)
    }

    // MARK: The MANIFEST

    /// The state of the database, and the number of the MANIFEST that describes it; nil for a database with another order of keys, which LevelDB refuses.
    private func manifest(_ files: LevelDBFiles) throws -> (UInt64, LevelDBManifest)? {
        let current = try text(of: "CURRENT")
        guard current.hasSuffix("\n"), let named = LevelDBFiles.number(String(current.dropLast()), "MANIFEST-", "") else {
            throw damaged("its file CURRENT names no MANIFEST")
        }
        do {
            return try state(named, files).map { (named, $0) }
        } catch let error as StoreError where error.code == .corrupt {
            // LevelDB renames CURRENT and removes the earlier MANIFEST without flushing the folder in between. A power cut may undo the renaming only.
            for newer in files.manifests.filter({ $0 > named }).sorted(by: >) {
                guard let state = try? state(newer, files), state.end == nil else { continue }
                try checkUnused()
                try name(newer)
                return (newer, state)
            }
            throw error
        }
    }

    private func text(of name: String) throws -> String {
        let descriptor = open(path + "/" + name, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FilePlace(path: path + "/" + name).refused("The file cannot be opened", errno) }
        defer { close(descriptor) }
        return try withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { bytes in
            let count = read(descriptor, bytes.baseAddress, bytes.count)
            guard count >= 0 else { throw FilePlace(path: path + "/" + name).refused("The file cannot be read", errno) }
            return String(decoding: bytes[..<count], as: UTF8.self)
        }
    }

    /// The state that a MANIFEST describes, if the files that it refers to are there.
    private func state(_ number: UInt64, _ files: LevelDBFiles) throws -> LevelDBManifest? {
        let name = LevelDBFiles.manifest(number)
        guard files.manifests.contains(number) else { throw damaged("\(name) is missing") }
        let file = try LevelDBLogFile(path + "/" + name)
        let manifest = try LevelDBManifest(reading: file)
        if let comparator = manifest.comparator, comparator != "leveldb.BytewiseComparator" { return nil }
        do {
            try check(manifest, name, files)
            return manifest
        } catch let error as StoreError where error.code == .corrupt && mark != nil {
            // LevelDB writes an edit before it flushes the names of the files that the edit adds. It removes nothing before both are flushed, so after a power
            // cut the state before the last edit is whole. A `.full` commit in a log whose name is missing would be behind the mark.
            let earlier = try LevelDBManifest(reading: file, beforeLastEditOf: manifest)
            guard (try? check(earlier, name, files)) != nil else { throw error }
            return earlier
        }
    }

    /// Makes sure that a state is complete and that the files that it refers to are there.
    private func check(_ manifest: LevelDBManifest, _ name: String, _ files: LevelDBFiles) throws {
        guard let log = manifest.logNumber, manifest.nextFile != nil, manifest.lastSequence != nil else {
            throw damaged("\(name) is cut short")
        }
        // A log is removed only when a MANIFEST that does not need it is durable.
        guard log == 0 || files.logs.contains(log) else { throw damaged("\(LevelDBFiles.log(log)) is missing, or \(name) is cut short") }
        for (table, size) in manifest.tables {
            guard let file = files.tables[table.number] else {
                throw damaged("the table \(table.number) is missing, or \(name) is cut short")
            }
            guard case .file(let bytes) = try FilePlace(path: path + "/" + file).kind(), UInt64(bytes) == size else {
                throw damaged("\(file) does not have its size, \(size) bytes")
            }
        }
    }

    /// - Returns: whether the end of a MANIFEST is damage, and no edit that was being written.
    private func checkEnd(of number: UInt64, _ end: LevelDBLogFile.Break) throws -> Bool {
        let name = LevelDBFiles.manifest(number)
        guard try LevelDBLogFile(path + "/" + name).holdsRecord(from: end.fragment) else { return false }
        if repairs { return true }
        throw damaged("\(name) cannot be read from byte \(end.record) on", canRepair: true)
    }

    /// Makes CURRENT name another MANIFEST.
    private func name(_ number: UInt64) throws {
        let file = FilePlace(path: path + "/" + LevelDBFiles.temporary(number))
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw file.refused("The file cannot be made", errno) }
        defer { close(descriptor) }
        let bytes = Array((LevelDBFiles.manifest(number) + "\n").utf8)
        guard write(descriptor, bytes, bytes.count) == bytes.count else { throw file.refused("The file cannot be written", errno) }
        try file.flush(descriptor)
        guard rename(file.path, path + "/CURRENT") == 0 else { throw file.refused("The file cannot be renamed", errno) }
        try file.flushFolder()
    }

    // MARK: The logs

    /// Where commits end that follow each other without a gap.
    private func logCuts(_ files: LevelDBFiles, _ manifest: LevelDBManifest) throws -> [Cut] {
        let first = manifest.logNumber ?? 0
        let logs = files.logs.filter { $0 >= first || $0 == manifest.previousLogNumber }.sorted()
        if let mark, mark.log >= first, !logs.contains(mark.log), !repairs { throw damaged("\(LevelDBFiles.log(mark.log)) is missing") }
        var cuts: [Cut] = []
        /// The number of the next write; nil before the first commit.
        var next: UInt64?
        for (position, log) in logs.enumerated() {
            let file = try LevelDBLogFile(path + "/" + LevelDBFiles.log(log))
            let end = try file.readRecords(keeping: 12) { header, count, _ in
                guard count >= 12 else { return false }
                let (sequence, writes) = header.withUnsafeBytes {
                    (
                        UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)),
                        UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
                    )
                }
                // A table may hold the first commits of a log already; none may be missing between the tables and the log.
                guard next.map({ $0 == sequence }) ?? (sequence <= (manifest.lastSequence ?? 0) &+ 1) else { return false }
                next = sequence &+ UInt64(writes)
                return true
            }
            if let mark, mark.log == log, end == nil, UInt64(file.size) < mark.size {
                // Cut between two commits.
                guard repairs else { throw damaged("\(LevelDBFiles.log(log)) is cut short", canRepair: true) }
            }
            guard let end else { continue }
            let isDamage = try isDamage(log, file, end, isLast: position == logs.count - 1)
            guard !isDamage || repairs else {
                let what = "\(LevelDBFiles.log(log)) cannot be read from byte \(end.record) on, and commits behind it were acknowledged"
                throw damaged(what, canRepair: true)
            }
            cuts.append(Cut(name: LevelDBFiles.log(log), size: end.record, isDamage: isDamage))
            // Later commits do not follow on what is left.
            for later in logs[(position + 1)...] { cuts.append(Cut(name: LevelDBFiles.log(later), size: 0, isDamage: isDamage)) }
            break
        }
        return cuts
    }

    /// Whether a break in a log is damage, and no end that a crash has left unfinished.
    private func isDamage(_ log: UInt64, _ file: LevelDBLogFile, _ end: LevelDBLogFile.Break, isLast: Bool) throws -> Bool {
        // Behind the mark only commits follow that may have reached the disk in any order.
        if let mark { return log < mark.log || log == mark.log && UInt64(end.record) < mark.size }
        return try !isLast || file.holdsRecord(from: end.fragment)
    }

    // MARK: Cutting

    /// Makes sure that no other program has the database open: one that does not know this library's lock.
    private func checkUnused() throws {
        let descriptor = open(path + "/LOCK", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var asked = flock()
        asked.l_type = Int16(F_WRLCK)
        asked.l_whence = Int16(SEEK_SET)
        guard fcntl(descriptor, F_GETLK, &asked) == 0, asked.l_type != Int16(F_UNLCK) else { return }
        throw StoreError(.busy, "The store \(path) is open in another process, and LevelDB serves one at a time.", url: path)
    }

    private func perform(_ cut: Cut) throws {
        let file = FilePlace(path: path + "/" + cut.name)
        if cut.isDamage { try keepCopy(of: file) }
        let descriptor = open(file.path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw file.refused("The file cannot be opened", errno) }
        defer { close(descriptor) }
        guard ftruncate(descriptor, off_t(cut.size)) == 0 else { throw file.refused("The file cannot be cut", errno) }
        try file.flush(descriptor)
    }

    /// Copies a damaged file to one beside it that LevelDB leaves alone, so that a repair loses nothing.
    private func keepCopy(of file: FilePlace) throws {
        let copy = FilePlace(path: file.path + ".damaged")
        let source = open(file.path, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else { throw file.refused("The file cannot be opened", errno) }
        defer { close(source) }
        let target = open(copy.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard target >= 0 else { throw copy.refused("The file cannot be made", errno) }
        defer { close(target) }
        try withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 8) { bytes in
            while true {
                let count = read(source, bytes.baseAddress, bytes.count)
                if count == 0 { break }
                guard count > 0 else { throw file.refused("The file cannot be read", errno) }
                guard write(target, bytes.baseAddress, count) == count else { throw copy.refused("The file cannot be written", errno) }
            }
        }
        try copy.flush(target)
    }
}
