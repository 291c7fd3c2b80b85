import PolyStoreBackend

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The files between the steps of a commit, and the files after many commits.
let flushCases: [ConformanceCase] = [
    ConformanceCase(
        "durability.full.flushes-every-commit", "Each of 64 .full commits flushes at least one file of the store. Counted on Linux.",
        requires: [.persistence, .fullDurability], needsFiles: true
    ) { run in
        guard try run.keepsFilesAtItsPath(), let probe = FlushProbe(folder: StorePath.resolve(run.folderPath)) else { return }
        let store = try run.open(Fixtures.company)
        var missed: [Int64] = []
        for number in 1...64 as ClosedRange<Int64> {
            let before = probe.count
            try store.write(.full) { try $0.apply(try run.part(of: store, number)) }
            if probe.count == before { missed.append(number) }
        }
        try run.expect(missed, equals: [], "commits with .full that were acknowledged, and no file was flushed")
    },
    ConformanceCase(
        "kill.flush.is-all-or-nothing",
        "At each flush of a .full commit, its records, links, named values and log entries are in the files all together or not at all.",
        requires: [.persistence, .fullDurability], needsFiles: true
    ) { run in
        guard let probe = try run.probe() else { return }
        let store = try run.open(Fixtures.company)
        try expectWholeCommits(run, probe, 4) { number in try store.write(.full) { try $0.apply(try run.part(of: store, number)) } }
    },
    ConformanceCase(
        "kill.flush.big-commit-is-all-or-nothing",
        "At each flush of a .full commit of 600 KiB, the commit is in the files completely or not at all.",
        requires: [.persistence, .fullDurability], needsFiles: true
    ) { run in
        guard let probe = try run.probe() else { return }
        let store = try run.open(Fixtures.company)
        try expectWholeCommits(run, probe, 2, clubsPerCommit: 301) { number in
            let changes = try run.part(of: store, number)
            let club = try store.entity("Club")
            for part in 0..<300 as Range<Int64> {
                try changes.insert(club, rowID: number * 1000 + part, [.text(String(repeating: "c", count: 2048))])
            }
            try store.write(.full) { try $0.apply(changes) }
        }
    },
    ConformanceCase(
        "space.snapshots.ended-are-released", "The space of versions that only ended snapshots showed is used again.",
        requires: [.persistence], needsFiles: true
    ) { run in
        guard try run.keepsFilesAtItsPath() else { return }
        let compacts = run.target.capabilities.contains(.compaction)
        // Each version has a text of 40 KB that differs from the others throughout, so that versions cannot share its pages.
        func fill(_ name: String, besideReaders: Bool) throws -> Int {
            let store = try run.open(Fixtures.company, name)
            let club = try store.entity("Club")
            try store.insert("Club", [[.text("")]])
            for number in 0..<200 {
                let reader = besideReaders ? try store.backend.beginRead() : nil
                _ = try reader?.row(club, 1)
                let changes = ChangeSet(store.schema)
                let text = String(repeating: "\(number).", count: 40_000 / (number < 10 ? 2 : number < 100 ? 3 : 4))
                try changes.update(club, rowID: 1, ["name": .text(text)])
                try store.write(.relaxed) { try $0.apply(changes) }
                // Also after the commit, as a program does that reads while others write.
                _ = try reader?.row(club, 1)
                reader?.end()
            }
            // An engine that reclaims space later, on a thread of its own, does so now.
            if compacts { try store.backend.compact() }
            let files = try StoreFiles(reading: run.folderPath)
            let sizes = files.items.filter { path, _ in path.split(separator: "/").first.map { $0.hasPrefix(name) } ?? false }
            try store.backend.close()
            return sizes.values.reduce(0) { $0 + ($1.contents?.count ?? 0) }
        }
        let alone = try fill("alone", besideReaders: false)
        // An engine that never reclaims space while it is open keeps all versions, with and without readers.
        guard alone < 4_000_000 else { return }
        let beside = try fill("beside", besideReaders: true)
        try run.expect(
            beside < alone + 4_000_000,
            "after 8 MB of changes beside snapshots that ended, the files have \(beside) bytes; without snapshots, \(alone)")
    },
]

extension ConformanceRun {
    /// Returns a probe of the folder; `nil` if the store has no files, or flushes cannot be counted.
    fileprivate func probe() throws -> FlushProbe? {
        try keepsFilesAtItsPath() ? FlushProbe(folder: StorePath.resolve(folderPath)) : nil
    }

    /// Returns the changes of a commit: a person and a club with the row id and a link between them, a changed person, a named value and a log entry.
    fileprivate func part(of store: TestStore, _ number: Int64) throws -> ChangeSet {
        let changes = ChangeSet(store.schema)
        let person = try store.entity("Person")
        try changes.insert(person, rowID: number, Fixtures.person("p\(number)", 0))
        if number > 1 { try changes.update(person, rowID: number - 1, ["age": .integer(number)]) }
        try changes.insert(try store.entity("Club"), rowID: number, [.text("c\(number)")])
        changes.link(try store.pair(try store.relationship("Person", "clubs"), number, number))
        if target.capabilities.contains(.namedValues) { try changes.setValue([UInt8(number)], named: "commit") }
        if target.capabilities.contains(.changeLog) { changes.appendLogEntry([UInt8(number)]) }
        return changes
    }
}

/// Commits several times, copies the files of the store at each flush, and opens the copies: what a kill at that moment leaves.
private func expectWholeCommits(
    _ run: ConformanceRun, _ probe: FlushProbe, _ commits: Int64, clubsPerCommit: Int = 1, _ commit: (Int64) throws -> Void
) throws {
    var images: [(name: String, commit: Int64)] = []
    var failure: (any Error)?
    for number in 1...commits {
        func keepImage() {
            let name = "image-\(images.count)"
            do {
                try run.copyFiles("store", to: name)
                images.append((name, number))
            } catch { failure = failure ?? error }
        }
        try probe.observing(keepImage) { try commit(number) }
    }
    if let failure { throw failure }
    for image in images {
        let store = try run.open(Fixtures.company, image.name)
        let person = try store.entity("Person")
        let what = "killed at a flush of commit \(image.commit)"
        try store.read { reader in
            let found = Int64(try reader.version)
            try run.expect([image.commit - 1, image.commit].contains(found), "\(what): version \(found)")
            let expected = (0..<found).map { Fixtures.person("p\($0 + 1)", $0 + 1 == found ? 0 : $0 + 2) }
            try run.expect(try reader.rows(FetchRequest(person)), equals: expected, "\(what): the records")
            let links = try reader.related(try store.relationship("Person", "clubs"), of: (0...commits).map { $0 + 1 })
            for id in 1...commits + 1 { try run.expect(links[id], equals: id <= found ? [id] : [], "\(what): the links of \(id)") }
            let clubs = try reader.count(FetchRequest(try store.entity("Club")))
            try run.expect(clubs, equals: Int(found) * clubsPerCommit, "\(what): the clubs")
            if run.target.capabilities.contains(.namedValues) {
                try run.expect(try reader.value(named: "commit"), equals: found == 0 ? nil : [UInt8(found)], "\(what): the named value")
            }
            if run.target.capabilities.contains(.changeLog) {
                let log = try reader.logEntries(after: 0, limit: 100).map(\.bytes)
                try run.expect(log, equals: (0..<found).map { [UInt8($0 + 1)] }, "\(what): the change log")
            }
        }
        if run.target.capabilities.contains(.verification) { try run.expect(try store.backend.verify(), equals: [], "\(what): verify") }
        try store.backend.close()
    }
}
