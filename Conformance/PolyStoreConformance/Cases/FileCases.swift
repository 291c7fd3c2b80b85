import PolyStoreBackend

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Foreign folders, permissions, kills and flushes.
let fileCases: [ConformanceCase] = [
    ConformanceCase(
        "opening.foreign-folder.is-refused",
        "A folder that is not a store is rejected; its name, contents and permissions stay unchanged.",
        requires: [.persistence], needsFiles: true
    ) { run in
        guard try run.keepsFilesAtItsPath() else { return }
        let folder = run.location().path
        try FileManager.default.createDirectory(atPath: folder + "/letters", withIntermediateDirectories: true)
        try Data("Dear all, this folder holds letters.".utf8).write(to: URL(fileURLWithPath: folder + "/letters/first.txt"))
        try Data(repeating: 7, count: 9000).write(to: URL(fileURLWithPath: folder + "/picture"))
        let before = try StoreFiles(reading: run.folderPath)
        for resets in [false, true] {
            try run.expectError(.notAStore, "opening a foreign folder") {
                try run.open(Fixtures.company) { $0.resettingOnModelMismatch(resets) }
            }
            let after = try StoreFiles(reading: run.folderPath)
            try run.expect(after.items.keys.sorted(), equals: before.items.keys.sorted(), "names in the foreign folder")
            for (name, item) in before.items {
                try run.expect(after.items[name]?.contents == item.contents, "\(name) of the foreign folder was changed")
                try run.expect(after.items[name]?.mode, equals: item.mode, "permissions of \(name)")
            }
        }
    },
    ConformanceCase(
        "opening.new.files-are-the-owners", "Only the owner can read the files of a new store, while it is open and after it is closed.",
        requires: [.persistence], needsFiles: true
    ) { run in
        try run.forNewStore { files in
            for (name, item) in files.items where item.contents != nil {
                var parents = name.split(separator: "/").dropLast().map(String.init)
                var isReachable = true
                while !parents.isEmpty {
                    if let mode = files.items[parents.joined(separator: "/")]?.mode, mode & 0o077 == 0 { isReachable = false }
                    parents.removeLast()
                }
                try run.expect(!isReachable || item.mode & 0o077 == 0, "\(name) has the permissions \(String(item.mode, radix: 8))")
            }
        }
    },
    ConformanceCase(
        "opening.new.folders-are-the-owners", "Only the owner can enter the folders of a new store.", requires: [.persistence],
        needsFiles: true
    ) { run in
        try run.forNewStore { files in
            for (name, item) in files.items where item.contents == nil {
                try run.expect(item.mode & 0o077 == 0, "\(name) has the permissions \(String(item.mode, radix: 8))")
            }
        }
    },
    killCase(.relaxed, requires: [.persistence]),
    killCase(.full, requires: [.persistence, .fullDurability]),
    ConformanceCase(
        "durability.full.flushes", "A .full commit flushes at least one file of the store before it returns. Counted on Linux.",
        requires: [.persistence, .fullDurability], needsFiles: true
    ) { run in
        guard try run.keepsFilesAtItsPath(), let probe = FlushProbe(folder: StorePath.resolve(run.folderPath)) else { return }
        let store = try run.open(Fixtures.company)
        for number in 1...5 as ClosedRange<Int64> {
            let before = probe.count
            let changes = ChangeSet(store.schema)
            try changes.insert(try store.entity("Person"), rowID: number, Fixtures.person("p\(number)", number))
            try store.write(.full) { try $0.apply(changes) }
            try run.expect(probe.count > before, "commit \(number) with .full was acknowledged, and no file was flushed")
        }
    },
]

/// A copy of the files of an open store equals what a killed process leaves: everything passed to the system, and nothing that the process buffered.
private func killCase(_ durability: Durability, requires: Set<Capabilities.Feature>) -> ConformanceCase {
    ConformanceCase(
        "kill.\(durability.rawValue).is-in-the-files",
        "Commits acknowledged with .\(durability.rawValue) are in the files whenever the process is killed.",
        requires: requires, needsFiles: true
    ) { run in
        guard try run.keepsFilesAtItsPath() else { return }
        for commits in [1, 2, 7] {
            let store = try run.open(Fixtures.company, "killed-\(commits)")
            let rows = (1...commits).map { Fixtures.person("p\($0)", Int64($0), nickname: String(repeating: "n", count: $0 * 100)) }
            for (number, row) in rows.enumerated() {
                let changes = ChangeSet(store.schema)
                try changes.insert(try store.entity("Person"), rowID: Int64(number + 1), row)
                try store.write(durability) { try $0.apply(changes) }
            }
            try run.copyFiles("killed-\(commits)", to: "image-\(commits)")
            let image = try run.open(Fixtures.company, "image-\(commits)")
            try run.expect(
                try image.read { try $0.rows(FetchRequest(try image.entity("Person"))) }, equals: rows,
                "what a kill leaves of \(commits) commits")
            try run.expect(try image.read { try $0.version }, equals: UInt64(commits), "the version")
            if image.backend.capabilities.features.contains(.verification) { try run.expect(try image.backend.verify(), equals: []) }
            try image.change { try $0.insert(try image.entity("Person"), rowID: 100, Fixtures.person("later", 1)) }
        }
    }
}

extension ConformanceRun {
    /// Returns whether a store keeps files at its path.
    func keepsFilesAtItsPath() throws -> Bool {
        let store = try open(Fixtures.company, "probe")
        try store.insert("Club", [[.text("club")]])
        try store.backend.close()
        let manager = FileManager.default
        let names = try manager.contentsOfDirectory(atPath: folderPath).filter { $0.hasPrefix("probe") }
        for name in names { try manager.removeItem(atPath: folderPath + "/" + name) }
        return !names.isEmpty
    }

    /// Calls a closure with the files of a new store, while it is open and after it is closed.
    fileprivate func forNewStore(_ body: (StoreFiles) throws -> Void) throws {
        let store = try open(Fixtures.company)
        try store.insert("Person", (0..<50).map { Fixtures.person("p\($0)", Int64($0), nickname: String(repeating: "x", count: 2000)) })
        try store.read { _ in try body(try StoreFiles(reading: folderPath)) }
        try store.backend.close()
        try body(try StoreFiles(reading: folderPath))
    }

    /// Copies the current files from one path to another.
    func copyFiles(_ from: String, to: String) throws {
        let manager = FileManager.default
        for name in try manager.contentsOfDirectory(atPath: folderPath)
        where name == from || name.hasPrefix(from + "-") || name.hasPrefix(from + ".") {
            try manager.copyItem(atPath: folderPath + "/" + name, toPath: folderPath + "/" + to + name.dropFirst(from.count))
        }
    }
}
