// Operations that a test runs on a store in another process. Prints a line for each step, and waits for a line `go` on the standard input where noted.
//
//     engine-child open ENGINE PATH            opens the store, prints "ok" or the error's code, waits, closes
//     engine-child read ENGINE PATH            begins a read transaction, prints the snapshot's version, waits, ends it
//     engine-child write ENGINE PATH FIRST LAST SIZE    commits notes one by one, prints each id, then "done"
//     engine-child block ENGINE PATH FIRST LAST SIZE    writes the same notes in one transaction; waits before the commit
//     engine-child compact ENGINE PATH         commits notes one by one, prints each id, and compacts the store after every second one, until it is killed
//     engine-child search ENGINE PATH FIRST    builds a full-text index in the background, commits texts from an id on and prints each id, until it is killed
//     engine-child limited ENGINE PATH BYTES SIZE       limits the size of every file to BYTES: commits notes until one fails, then a few more
//     engine-child reset ENGINE PATH MODEL ID  waits, resets the store of another model, commits one object and prints its id
//     engine-child insert ENGINE PATH MODEL COUNT       commits objects one by one, prints each id or the error's code, waits after each
//     engine-child migrate ENGINE PATH COUNT   migrates the store with COUNT memos: waits after each batch, and before the commit
//     engine-child migrate-memos ENGINE PATH   prints "ready", waits, migrates notes to memos: prints "begun", then "done" or the error's code
//     engine-child fork ENGINE PATH            uses a store in a forked child, then continues to use it in the parent
//     engine-child readonly ENGINE PATH USER   opens a store read-only as another user, prints the ids of its notes or the error
//     engine-child linked ENGINE PATH          opens a file with several names read-only, prints the ids of its notes, waits, prints them or the error's code
//     engine-child grow lmdb PATH MISSING      reserves address space until the map cannot grow, plus MISSING mebibytes: prints the outcome
//     engine-child squeeze lmdb PATH           compacts without enough address space and descriptors, beside a reader: prints the outcomes, waits in between
//     engine-child held ENGINE PATH WORK AT    copies the store to the path PATH.copy or compacts it: prints "held" and waits before the AT-th call that needs
//                                              disk space, prints "done" or the error's code, waits, closes
//     engine-child sample ENGINE PATH          creates a store that covers the whole file format
//     engine-child evolve ENGINE PATH          migrates that store twice

import EngineTestSupport
import Foundation
import PolyStoreBackend
import PolyStoreKeyValue
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStoreSQLite

nonisolated func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

func code(_ error: any Error) -> String { (error as? StoreError)?.code.description ?? "\(error)" }

func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("engine-child: \(message)\n".utf8))
    exit(1)
}

let arguments = CommandLine.arguments
guard arguments.count >= 4 else { fail("see the top of its source") }

func number(_ position: Int) -> Int64 {
    guard position < arguments.count, let number = Int64(arguments[position]) else { fail("argument \(position) must be a number") }
    return number
}

func openStore() throws -> Store {
    var small = LMDBOptions()
    small.mapSize = 1 << 20
    var configuration: StoreConfiguration
    switch arguments[2] {
    case "lmdb": configuration = .lmdb(file: arguments[3], options: small)
    case "sqlite": configuration = .sqlite(file: arguments[3])
    default: configuration = .levelDB(directory: arguments[3])
    }
    if arguments[1] == "linked" {
        var (sqlite, lmdb) = (SQLiteOptions(), LMDBOptions())
        (sqlite.readsHardLinkedFiles, lmdb.readsHardLinkedFiles) = (true, true)
        configuration = arguments[2] == "lmdb" ? .lmdb(file: arguments[3], options: lmdb) : .sqlite(file: arguments[3], options: sqlite)
        configuration.isReadOnly = true
    }
    switch arguments[1] {
    case "sample", "evolve": return try Store(configuration, try Sample.schema())
    case "reset": return try Store(configuration.resettingOnModelMismatch(), try Notes.schema(arguments[4]))
    case "insert": return try Store(configuration, try Notes.schema(arguments[4]))
    case "search": return try Store(configuration, try Texts.schema([Texts.both]))
    case "readonly": configuration.isReadOnly = true
    default: break
    }
    return try Store(configuration, try Notes.schema())
}

if arguments[1] == "limited" {
    // With SIGXFSZ ignored, a write past the limit fails instead of killing the process.
    signal(SIGXFSZ, SIG_IGN)
}

if arguments[1] == "reset" {
    say("ready")
    _ = readLine()
}
if arguments[1] == "readonly", number(4) > 0, setuid(uid_t(number(4))) != 0 { fail("the user cannot be changed") }
#if canImport(Glibc)
    /// Sets the limit of the address space.
    /// - Parameter bytes: The bytes to allow in addition to those the process uses, or nil for no limit.
    func limitAddressSpace(_ bytes: Int?) throws {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        if let bytes {
            let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ").first.flatMap { Int($0) }
            guard let pages else { fail("/proc/self/statm cannot be read") }
            limit.rlim_cur = rlim_t(pages * Int(sysconf(Int32(_SC_PAGESIZE))) + bytes)
        }
        guard setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0 else { fail("the limit cannot be set") }
    }

    /// Sets the limit of the number of descriptors.
    /// - Parameter count: The number to allow in addition to those the process uses, or nil for no limit.
    func limitDescriptors(_ count: Int?) throws {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        if let count {
            let used = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int($0) }
            // The folder's own descriptor is closed again.
            let free = (0..<used.count + count + 1).filter { !used.contains($0) }
            limit.rlim_cur = rlim_t(free.count > count ? free[count] : used.count + count)
        }
        guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { fail("the limit cannot be set") }
    }

    if arguments[1] == "squeeze" {
        // The copy needs less address space than the smallest map.
        var options = LMDBOptions()
        options.mapSize = 1 << 30
        let store = try Store(.lmdb(file: arguments[3], options: options), try Notes.schema())
        try store.addNotes(1...400, size: 3000)
        try store.write { changes in for id in Int64(11)...400 { try changes.delete("Note", id) } }
        let reader = try store.backend.beginRead()
        try limitAddressSpace(40 << 20)
        do {
            try store.backend.compact()
            say("compacted")
        } catch { say(code(error)) }
        do { say("\(try store.wholeNotes().count)") } catch { say(code(error)) }
        do {
            try store.addNotes(1001...1001, size: 100, .full)
            say("written")
        } catch { say(code(error)) }
        try limitAddressSpace(nil)
        _ = readLine()
        say("\(try store.wholeNotes().count)")
        var (failures, unreadable, isCompacted) = (0, 0, false)
        for count in 0..<40 where !isCompacted {
            try limitDescriptors(count)
            do {
                try store.backend.compact()
                isCompacted = true
            } catch { failures += 1 }
            do { _ = try store.wholeNotes() } catch { unreadable += 1 }
            try limitDescriptors(nil)
            try store.addNotes(Int64(2000 + count)...Int64(2000 + count), size: 100, .full)
        }
        say(isCompacted ? "compacted" : "never compacted")
        say(failures > 2 ? "failed" : "failed \(failures) times")
        say("\(unreadable) unreadable")
        say("\(try reader.count(FetchRequest(store.entity("Note")))) before")
        reader.end()
        say(try store.wholeNotes().count == 13 + failures + 1 ? "whole" : "\(try store.wholeNotes())")
        _ = readLine()
        try store.backend.close()
        exit(0)
    }

    if arguments[1] == "grow" {
        // Large compared with the rest of the process's memory.
        var options = LMDBOptions()
        options.mapSize = 1 << 30
        let configuration = StoreConfiguration.lmdb(file: arguments[3], options: options)
        let store = try Store(configuration, try Notes.schema())
        try store.addNotes(1...100, size: 1000)
        let handle = try EngineHandle.lmdb(path: arguments[3], options: options, isReadOnly: false)
        guard let engine = handle.engine as? any TransactionalEngine else { fail("no transactions") }
        let missing = Int(number(4))
        try limitAddressSpace(256 << 20 - missing << 20)
        do {
            try engine.makeRoom()
            say("grown")
        } catch { say(code(error)) }
        do { say("\(try store.wholeNotes().count)") } catch { say(code(error)) }
        do {
            try store.addNotes(101...110, size: 1000)
            say("written")
        } catch { say(code(error)) }
        try limitAddressSpace(nil)
        try engine.makeRoom()
        try store.addNotes(111...120, size: 1000)
        say("\(try store.wholeNotes().count)")
        exit(0)
    }
#endif

let store: Store
do { store = try openStore() } catch {
    say(arguments[1] == "readonly" ? "\(error)" : code(error))
    exit(0)
}

switch arguments[1] {
case "migrate-memos":
    say("ready")
    _ = readLine()
    do {
        try Memos.migrate(store) { say("begun") }
        say("done")
    } catch { say(code(error)) }
case "open":
    say("ok")
    _ = readLine()
    try store.backend.close()
case "read":
    let transaction = try store.backend.beginRead()
    say("\(try transaction.version)")
    _ = readLine()
    transaction.end()
case "write":
    for id in number(4)...number(5) {
        while true {
            do {
                try store.addNotes(id...id, size: Int(number(6)))
                break
            } catch let error as StoreError where error.code == .conflict {
                // The other process wrote while the map grew: retry.
            }
        }
        say("\(id)")
    }
    say("done")
    try store.backend.close()
case "compact":
    for id in 1...Int64.max {
        try store.addNotes(id...id, size: 3000, .full)
        say("\(id)")
        if id % 2 == 0 { try store.backend.compact() }
    }
case "search":
    say("open")
    for id in number(4)...Int64.max {
        try store.write(.full) { changes in
            try changes.insert("Note", id, ["title": .text("lazy fox \(id)"), "code": .integer(id)])
            try changes.update("Note", 1 + id % 500, ["body": .text("quick brown \(id)")])
        }
        say("\(id)")
    }
case "block":
    try store.write { changes in
        for id in number(4)...number(5) { try changes.insert("Note", id, Notes.values(id, size: Int(number(6)))) }
        say("ready")
        _ = readLine()
    }
    say("done")
case "limited":
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    limit.rlim_cur = rlim_t(number(4))
    setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    var failures = 0
    var id: Int64 = 1
    while failures < 10 {
        do {
            try store.addNotes(id...id, size: Int(number(5)), .full)
            say("\(id)")
        } catch {
            failures += 1
            say("\(id) \(code(error))")
        }
        id += 1
    }
    // Committed notes remain readable.
    say("whole \(try store.wholeNotes().count)")
    try? store.backend.close()
case "reset":
    do {
        try store.write(.full) { try $0.insert(arguments[4], number(5), Notes.values(number(5), size: 100)) }
        say("\(number(5))")
        try store.backend.close()
    } catch { say(code(error)) }
case "insert":
    for id in 1...number(5) {
        do {
            try store.write(.full) { try $0.insert(arguments[4], id, Notes.values(id, size: 100)) }
            say("\(id)")
        } catch { say(code(error)) }
        if id < number(5) { _ = readLine() }
    }
case "migrate":
    let migration = try store.backend.beginMigration(NoteMigration.change())
    say("begun")
    try NoteMigration.writeMemos(number(4), migration) {
        say("saved")
        _ = readLine()
    }
    do {
        try migration.commit()
        say("done")
    } catch { say(code(error)) }
case "fork": try Forking.run(store)
case "readonly":
    do { say("\(try store.ids("Note"))") } catch { say("\(error)") }
    try store.backend.close()
case "held":
    do {
        try Holding.run(store, arguments[3], arguments[4], at: UInt64(number(5)))
        say("done")
    } catch { say(code(error)) }
    _ = readLine()
    try store.backend.close()
case "linked":
    say("\(try store.wholeNotes())")
    _ = readLine()
    do { say("\(try store.wholeNotes())") } catch { say(code(error)) }
    try store.backend.close()
case "sample": try Sample.fill(store)
case "evolve":
    try Sample.migrate(store) { schema in
        switch arguments[2] {
        case "lmdb": try Store(.lmdb(file: arguments[3]), schema)
        default: try Store(.levelDB(directory: arguments[3]), schema)
        }
    }
default: fail("there is no \(arguments[1])")
}
