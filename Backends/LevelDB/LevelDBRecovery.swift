import PolyStoreBackend
import PolyStorePlatform

/// Checks the files of a database before LevelDB opens it, and truncates what a crash has left incomplete.
///
/// LevelDB opens a truncated MANIFEST or log without an error and deletes the files that the missing part refers to, and it rejects the torn end that a power
/// failure leaves. See decision 016.
struct LevelDBRecovery {
    let storePath: StorePath
    /// The durable part of the logs; `nil` if the store was never opened by a version of this library that writes a mark.
    let mark: LevelDBMark?
    /// A Boolean value that indicates whether damage that loses acknowledged commits is truncated, instead of throwing `corrupt`.
    let repairs: Bool
    private var path: String { storePath.path }

    init(_ storePath: StorePath, mark: LevelDBMark?, repairs: Bool) {
        self.storePath = storePath
        self.mark = mark
        self.repairs = repairs
    }

    /// A file to truncate, and its new size.
    private struct Cut {
        let name: String
        let size: Int
        /// A Boolean value that indicates whether acknowledged commits are lost.
        let isDamage: Bool
    }

    /// - Throws: `corrupt` if acknowledged commits are missing; `io`; `busy`.
    func run() throws {
        let files = try LevelDBFiles(storePath)
        guard files.hasCurrent, let (number, manifest) = try manifest(files) else { return }
        var cuts = try logCuts(files, manifest)
        if let end = manifest.end {
            cuts.append(Cut(name: LevelDBFiles.manifest(number), size: end.record, isDamage: try checkEnd(of: number, end)))
        }
        guard !cuts.isEmpty else { return }
        try checkUnused()
        // In reverse order: if this is interrupted, the next opening finds the first break again.
        for cut in cuts.reversed() { try perform(cut) }
    }

    private func damaged(_ what: String, canRepair: Bool = false) -> StoreError {
        let repair = canRepair ? ", or keep the commits before the damage with LevelDBOptions.repairsLog" : ""
        return StoreError(.corrupt, "The store \(path) is damaged: \(what). Restore a backup\(repair).", location: path)
    }

    // MARK: The MANIFEST

    /// Returns the state of the database and the number of its MANIFEST; `nil` for a database with another key order, which LevelDB rejects.
    private func manifest(_ files: LevelDBFiles) throws -> (UInt64, LevelDBManifest)? {
        let current = try text(of: "CURRENT")
        guard current.hasSuffix("\n"), let named = LevelDBFiles.number(String(current.dropLast()), "MANIFEST-", "") else {
            throw damaged("its file CURRENT names no MANIFEST")
        }
        do {
            return try state(named, files).map { (named, $0) }
        } catch let error as StoreError where error.code == .corrupt {
            // LevelDB renames CURRENT and removes the earlier MANIFEST without flushing the folder in between. A power failure may undo only the renaming.
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
        guard descriptor >= 0 else { throw StorePath(path: path + "/" + name).refused("The file cannot be opened", errno) }
        defer { close(descriptor) }
        return try withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { bytes in
            let count = read(descriptor, bytes.baseAddress, bytes.count)
            guard count >= 0 else { throw StorePath(path: path + "/" + name).refused("The file cannot be read", errno) }
            return String(decoding: bytes[..<count], as: UTF8.self)
        }
    }

    /// Returns the state that a MANIFEST describes, if the files that it refers to exist.
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
            // failure the state before the last edit is complete. A `.full` commit in a log whose name is missing would be covered by the mark.
            let earlier = try LevelDBManifest(reading: file, beforeLastEditOf: manifest)
            guard (try? check(earlier, name, files)) != nil else { throw error }
            return earlier
        }
    }

    /// Checks that a state is complete and that the files that it refers to exist.
    private func check(_ manifest: LevelDBManifest, _ name: String, _ files: LevelDBFiles) throws {
        guard let log = manifest.logNumber, manifest.nextFile != nil, manifest.lastSequence != nil else {
            throw damaged("\(name) is cut short")
        }
        // A log is removed only after a MANIFEST that does not need it is durable.
        guard log == 0 || files.logs.contains(log) else { throw damaged("\(LevelDBFiles.log(log)) is missing, or \(name) is cut short") }
        for (table, size) in manifest.tables {
            guard let file = files.tables[table.number] else {
                throw damaged("the table \(table.number) is missing, or \(name) is cut short")
            }
            guard case .file(let bytes) = try StorePath(path: path + "/" + file).kind(), UInt64(bytes) == size else {
                throw damaged("\(file) does not have its size, \(size) bytes")
            }
        }
    }

    /// - Returns: whether the end of a MANIFEST is damage rather than an incomplete edit.
    private func checkEnd(of number: UInt64, _ end: LevelDBLogFile.Break) throws -> Bool {
        let name = LevelDBFiles.manifest(number)
        guard try LevelDBLogFile(path + "/" + name).holdsRecord(from: end.fragment) else { return false }
        if repairs { return true }
        throw damaged("\(name) cannot be read from byte \(end.record) on", canRepair: true)
    }

    /// Writes the number of another MANIFEST to CURRENT.
    private func name(_ number: UInt64) throws {
        let file = StorePath(path: path + "/" + LevelDBFiles.temporary(number))
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

    /// Returns the truncations that leave only commits without gaps.
    private func logCuts(_ files: LevelDBFiles, _ manifest: LevelDBManifest) throws -> [Cut] {
        let first = manifest.logNumber ?? 0
        let logs = files.logs.filter { $0 >= first || $0 == manifest.previousLogNumber }.sorted()
        if let mark, mark.log >= first, !logs.contains(mark.log), !repairs { throw damaged("\(LevelDBFiles.log(mark.log)) is missing") }
        var cuts: [Cut] = []
        /// The sequence number of the next write; `nil` before the first commit.
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
                // A table may already contain the first commits of a log, but none may be missing between the tables and the log.
                guard next.map({ $0 == sequence }) ?? (sequence <= (manifest.lastSequence ?? 0) &+ 1) else { return false }
                next = sequence &+ UInt64(writes)
                return true
            }
            if let mark, mark.log == log, end == nil, UInt64(file.size) < mark.size {
                // Truncated between two commits.
                guard repairs else { throw damaged("\(LevelDBFiles.log(log)) is cut short", canRepair: true) }
            }
            guard let end else { continue }
            let isDamage = try isDamage(log, file, end, isLast: position == logs.count - 1)
            guard !isDamage || repairs else {
                let what = "\(LevelDBFiles.log(log)) cannot be read from byte \(end.record) on, and commits behind it were acknowledged"
                throw damaged(what, canRepair: true)
            }
            cuts.append(Cut(name: LevelDBFiles.log(log), size: end.record, isDamage: isDamage))
            // Later logs do not continue the remaining commits.
            for later in logs[(position + 1)...] { cuts.append(Cut(name: LevelDBFiles.log(later), size: 0, isDamage: isDamage)) }
            break
        }
        return cuts
    }

    /// Returns whether a break in a log is damage rather than the incomplete end that a crash leaves.
    private func isDamage(_ log: UInt64, _ file: LevelDBLogFile, _ end: LevelDBLogFile.Break, isLast: Bool) throws -> Bool {
        // The commits after the mark may have reached the disk in any order.
        if let mark { return log < mark.log || log == mark.log && UInt64(end.record) < mark.size }
        return try !isLast || file.holdsRecord(from: end.fragment)
    }

    // MARK: Truncating

    /// Checks that no other program has the database open, for example one that does not use this library's lock.
    private func checkUnused() throws {
        let descriptor = open(path + "/LOCK", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var asked = flock()
        asked.l_type = Int16(F_WRLCK)
        asked.l_whence = Int16(SEEK_SET)
        guard fcntl(descriptor, F_GETLK, &asked) == 0, asked.l_type != Int16(F_UNLCK) else { return }
        throw StoreError(.busy, "The store \(path) is open in another process, and LevelDB serves one at a time.", location: path)
    }

    private func perform(_ cut: Cut) throws {
        let file = StorePath(path: path + "/" + cut.name)
        if cut.isDamage { try keepCopy(of: file) }
        let descriptor = open(file.path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw file.refused("The file cannot be opened", errno) }
        defer { close(descriptor) }
        guard ftruncate(descriptor, off_t(cut.size)) == 0 else { throw file.refused("The file cannot be cut", errno) }
        try file.flush(descriptor)
    }

    /// Copies a damaged file to one beside it that LevelDB ignores, so that a repair loses no data.
    private func keepCopy(of file: StorePath) throws {
        let copy = StorePath(path: file.path + ".damaged")
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
