import PolyStoreBackend

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Copying a store that is in use.
let copyingCases: [ConformanceCase] = [
    copyCase("opens-and-equals", "A copy opens like any other store, with the same id, schema and contents.") { run, store in
        if run.target.capabilities.contains(.namedValues) { try store.setValues([("v", [1, 2])]) }
        if run.target.capabilities.contains(.changeLog) { try store.append([[1], [2]]) }
        try store.reserve("Pet", 30)
        try store.backend.copy(to: run.copyLocation("copy"))
        let copy = try run.open(Pets.schema, "copy")
        try run.expect(try Pets.contents(copy), equals: try Pets.contents(store))
        try run.expect(copy.backend.metadata, equals: store.backend.metadata)
        try run.expect(try copy.read { try $0.version }, equals: try store.read { try $0.version }, "the version")
        if run.target.capabilities.contains(.namedValues) { try run.expect(try copy.value("v"), equals: [1, 2]) }
        if run.target.capabilities.contains(.changeLog) { try run.expect(try copy.entries(), equals: try store.entries()) }
        try run.expect(try copy.reserve("Pet", 1), equals: 31, "the next id")
        if run.target.capabilities.contains(.verification) { try run.expect(try copy.backend.verify(), equals: []) }
    },
    copyCase("is-independent", "Changes of a copy do not affect the store, nor the other way round.") { run, store in
        try store.backend.copy(to: run.copyLocation("copy"))
        let before = try Pets.contents(store)
        let copy = try run.open(Pets.schema, "copy")
        try copy.change { $0.delete(try copy.entity("Pet"), rowID: 1) }
        try run.expect(try Pets.contents(store), equals: before)
        let changed = try Pets.contents(copy)
        try store.change { try $0.update(try store.entity("Pet"), rowID: 2, ["name": .text("changed")]) }
        try run.expect(try Pets.contents(copy), equals: changed)
        try copy.backend.close()
        try run.expect(try Pets.contents(try run.open(Pets.schema, "copy")), equals: changed, "after reopening")
    },
    copyCase(
        "log-is-independent", "A copy continues the change log with its own entries, after those that it shares.", requires: [.changeLog]
    ) {
        run, store in
        try store.append([[1], [2]])
        try store.backend.copy(to: run.copyLocation("copy"))
        let copy = try run.open(Pets.schema, "copy")
        let shared = try store.entries()
        try store.append([[3], [4]])
        try copy.append([[5]])
        try copy.append([[6]])
        for (opened, own) in [(store, [[3], [4]]), (copy, [[5], [6]])] as [(TestStore, [[UInt8]])] {
            let entries = try opened.entries()
            try run.expect(Array(entries.prefix(2)), equals: shared)
            try run.expect(entries.dropFirst(2).map(\.bytes), equals: own)
        }
    },
    copyCase("while-writing", "A copy made during reads and writes contains exactly the committed data.") { run, store in
        let pet = try store.entity("Pet")
        let reader = try store.backend.beginRead()
        for number in 0..<3 as Range<Int64> {
            try store.change { changes in
                for id in (number * 1000 + 100)..<(number * 1000 + 1100) {
                    try changes.insert(pet, rowID: id, [.text("kind \(id % 5)"), .text("pet \(id)"), .null])
                }
            }
            try store.backend.copy(to: run.copyLocation("copy\(number)"))
            let copy = try run.open(Pets.schema, "copy\(number)")
            try run.expect(try copy.read { try $0.count(FetchRequest(pet)) }, equals: 4 + 1000 * Int(number + 1))
            try run.expect(try Pets.contents(copy), equals: try Pets.contents(store))
        }
        reader.end()
        guard run.target.capabilities.contains(.concurrentReaders) else { return }
        let writer = try store.backend.beginWrite()
        defer { writer.rollback() }
        let changes = ChangeSet(store.schema)
        changes.delete(pet, rowID: 1)
        try writer.apply(changes)
        try store.backend.copy(to: run.copyLocation("uncommitted"))
        try run.expect(try run.open(Pets.schema, "uncommitted").row("Pet", 1) != nil, "the copy contains uncommitted changes")
    },
    copyCase("taken.is-io", "Copying to an existing path throws io, and the existing file stays.") { run, store in
        let location = try run.copyLocation("copy")
        try store.backend.copy(to: location)
        let copy = try run.open(Pets.schema, "copy")
        try copy.change { $0.delete(try copy.entity("Pet"), rowID: 1) }
        let before = try Pets.contents(copy)
        try run.expectError(.io, "a store") { try store.backend.copy(to: location) }
        try run.expectError(.io, "the store itself") { try store.backend.copy(to: run.copyLocation("store")) }
        if run.target.keepsLocalFiles {
            try run.expectError(.io, "a folder") { try store.backend.copy(to: run.folderPath) }
            try run.expectError(.io, "a missing folder") { try store.backend.copy(to: run.folderPath + "/missing/copy") }
        }
        try run.expect(try Pets.contents(copy), equals: before)
        try run.expect(try Pets.contents(store).isEmpty, equals: false)
    },
    copyCase("closed.is-refused", "A closed store cannot be copied.") { run, store in
        try store.backend.close()
        try run.expectError(.closed) { try store.backend.copy(to: run.copyLocation("copy")) }
    },
    copyCase("read-only.copies", "A store that is open read-only can be copied.", requires: [.readOnlyOpen]) { run, store in
        let before = try Pets.contents(store)
        try store.backend.close()
        let reading = try run.open(Pets.schema) { $0.readOnly() }
        try reading.backend.copy(to: run.copyLocation("copy"))
        let copy = try run.open(Pets.schema, "copy")
        try run.expect(try Pets.contents(copy), equals: before)
        try copy.change { $0.delete(try copy.entity("Pet"), rowID: 1) }
    },
    copyCase("then-migrated", "A copy can be migrated, and the store stays unchanged.", requires: [.migration]) { run, store in
        let before = try Pets.contents(store)
        try store.backend.copy(to: run.copyLocation("copy"))
        let copy = try run.open(Pets.schema, "copy")
        let change = try Pets.toAnimals(copy)
        try copy.backend.beginMigration(change).commit()
        try run.expect(try Pets.contents(store), equals: before)
        let migrated = try run.open(Pets.animals, "copy")
        try run.expect(try migrated.read { try $0.all(change.target.entities[0]) }, equals: Pets.owners)
    },
    ConformanceCase(
        "copying.interrupted.is-removed-by-the-next-opening",
        "Of a copy whose process was terminated, nothing remains beside the store after it was opened for writing.",
        requires: [.copying, .persistence], needsFiles: true
    ) { run in
        guard try run.keepsFilesAtItsPath() else { return }
        let first = try Pets.open(run)
        let contents = try Pets.contents(first)
        try first.backend.close()
        let names = try run.topNames()
        let store = try run.open(Pets.schema)
        var images: [StoreFiles] = []
        // The files as they are when a process is terminated at this moment. No process has locks on these files.
        try store.backend.copy(to: run.copyLocation("copy")) { _ in
            if images.count < 4 { images.append(try StoreFiles(reading: run.folderPath)) }
        }
        try store.backend.close()
        for image in images {
            try image.write(to: run.folderPath)
            let opened = try run.open(Pets.schema)
            try run.expect(try Pets.contents(opened), equals: contents)
            try opened.backend.close()
            try run.expect(try run.topNames(), equals: names, "the names beside the store")
        }
    },
    copyCase("openings.do-not-disturb-a-copy", "A store that is opened in the folder of a copy while it is made leaves the copy complete.")
    {
        run, store in
        let contents = try Pets.contents(store)
        try run.open(Pets.schema, "other").backend.close()
        try store.backend.copy(to: run.copyLocation("copy")) { _ in
            for name in ["store", "other"] { try run.open(Pets.schema, name).backend.close() }
        }
        try run.expect(try Pets.contents(try run.open(Pets.schema, "copy")), equals: contents)
        try run.expect(try Pets.contents(store), equals: contents)
    },
]

extension ConformanceRun {
    /// The names of the files and folders in the folder of the run, without those in folders.
    fileprivate func topNames() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folderPath).sorted() }
}

/// Compacting a store that is in use.
let compactionCases: [ConformanceCase] = [
    ConformanceCase(
        "compaction.keeps-everything", "Compaction changes no data, neither for new transactions nor for open readers.",
        requires: [.compaction]
    ) { run in
        let store = try Pets.open(run)
        let pet = try store.entity("Pet")
        try store.change { changes in
            for id in 100..<2100 as Range<Int64> {
                try changes.insert(pet, rowID: id, [.text("kind"), .text(String(repeating: "x", count: 200)), .null])
            }
        }
        try store.change { changes in for id in 200..<2100 as Range<Int64> { changes.delete(pet, rowID: id) } }
        if run.target.capabilities.contains(.namedValues) { try store.setValues([("v", [1, 2])]) }
        let before = try Pets.contents(store)
        let version = try store.read { try $0.version }
        let reader = try store.backend.beginRead()
        let count = try reader.count(FetchRequest(pet))
        try store.backend.compact()
        try run.expect(try reader.count(FetchRequest(pet)), equals: count, "the rows of the older snapshot")
        reader.end()
        try store.backend.compact()
        try run.expect(try Pets.contents(store), equals: before)
        try run.expect(try store.read { try $0.version }, equals: version, "the version")
        if run.target.capabilities.contains(.namedValues) { try run.expect(try store.value("v"), equals: [1, 2]) }
        try store.change { $0.delete(pet, rowID: 100) }
        try run.expect(try store.read { try $0.count(FetchRequest(pet)) }, equals: count - 1, "after the next commit")
        if run.target.capabilities.contains(.verification) { try run.expect(try store.backend.verify(), equals: []) }
        guard run.target.capabilities.contains(.persistence) else { return }
        try store.backend.close()
        let reopened = try run.open(Pets.schema)
        try run.expect(try reopened.read { try $0.count(FetchRequest(pet)) }, equals: count - 1, "after reopening")
    },
    ConformanceCase(
        "compaction.two-handles.go-on", "Two stores opened at one path share their commits after a compaction by one of them.",
        requires: [.compaction, .multiProcess]
    ) { run in
        let first = try Pets.open(run)
        let second = try run.open(Pets.schema)
        let pet = try first.entity("Pet")
        let count = try second.read { try $0.count(FetchRequest(pet)) }
        let reader = try second.backend.beginRead()
        try first.backend.compact()
        for number in 0..<4 as Range<Int64> {
            try (number % 2 == 0 ? second : first).change { try $0.insert(pet, rowID: 1000 + number, [.text("kind"), .text("x"), .null]) }
            for store in [first, second] {
                try run.expect(try store.read { try $0.count(FetchRequest(pet)) }, equals: count + 1 + Int(number))
            }
        }
        try run.expect(try reader.count(FetchRequest(pet)), equals: count, "the rows of the older snapshot")
        reader.end()
        try second.backend.compact()
        let third = try run.open(Pets.schema)
        try run.expect(try third.read { try $0.count(FetchRequest(pet)) }, equals: count + 4, "a store opened afterwards")
    },
    ConformanceCase(
        "compaction.beside-writers.lose-nothing",
        "Compactions beside a writer neither fail nor end its writing, and lose none of its commits.", requires: [.compaction]
    ) { run in
        let store = try Pets.open(run)
        let pet = try store.entity("Pet")
        let (commits, compactions) = (90, 25)
        let work = Protected((commits: 0, compactions: 0, isOver: false))
        let ids = try await withThrowingTaskGroup(of: [Int64].self) { group in
            group.addTask {
                try await onThread {
                    defer { work.withLock { $0.isOver = true } }
                    var ids: [Int64] = []
                    func write() throws {
                        let id = Int64(1000 + ids.count)
                        let changes = ChangeSet(store.schema)
                        try changes.insert(pet, rowID: id, [.text("kind \(id % 5)"), .text(String(repeating: "x", count: 200)), .null])
                        if id % 2 == 0, id > 1000 { changes.delete(pet, rowID: id - 1) }
                        try store.write(id % 3 == 0 ? .full : .relaxed) { try $0.apply(changes) }
                        ids.append(id)
                        work.withLock { $0.commits += 1 }
                    }
                    // Until both have done their share, so that they overlap whatever their speeds are.
                    while work.withLock({ !$0.isOver && ($0.commits < commits || $0.compactions < compactions) }) { try write() }
                    // All compactions can follow the last write of the loop.
                    try write()
                    return ids
                }
            }
            group.addTask {
                try await onThread {
                    defer { work.withLock { $0.isOver = true } }
                    while work.withLock({ !$0.isOver }) {
                        try store.backend.compact()
                        work.withLock { $0.compactions += 1 }
                    }
                    return []
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        let last = ids.last ?? 0
        let expected = Array(1...4) + ids.filter { $0 % 2 == 0 || $0 == last }
        try run.expect(try store.ids(FetchRequest(pet)), equals: expected)
        if run.target.capabilities.contains(.verification) { try run.expect(try store.backend.verify(), equals: []) }
        guard run.target.capabilities.contains(.persistence) else { return }
        try store.backend.close()
        try run.expect(try run.open(Pets.schema).ids(FetchRequest(pet)), equals: expected, "after reopening")
    },
]

private func copyCase(
    _ id: String, _ statement: String, requires: Set<Capabilities.Feature> = [],
    _ body: @escaping @Sendable (ConformanceRun, TestStore) throws -> Void
) -> ConformanceCase {
    ConformanceCase("copying.\(id)", statement, requires: requires.union([.copying, .persistence])) { run in
        try body(run, try Pets.open(run))
    }
}
