// What another process does to a store while a test looks on. Prints a line for each thing done; `go` on its input lets it go on.
//
//     engine-child open ENGINE PATH            opens the store, prints "ok" or the error's code, waits, closes
//     engine-child read ENGINE PATH            begins to read, prints the version, waits, ends
//     engine-child write ENGINE PATH FIRST LAST SIZE    commits notes one by one, prints each id, then "done"
//     engine-child block ENGINE PATH FIRST LAST SIZE    the same notes in one transaction; waits before the commit
//     engine-child limited ENGINE PATH BYTES SIZE       no file may grow past so many bytes: commits notes until one fails, and some more
//     engine-child reset ENGINE PATH MODEL ID  waits, empties the store of another model, commits one object and prints its id
//     engine-child insert ENGINE PATH MODEL COUNT       commits objects one by one, prints each id or the error's code, waits after each
//     engine-child fork ENGINE PATH            uses a store in a child of its own, and goes on with it
//     engine-child readonly ENGINE PATH USER   opens a store for reading as another user, prints the ids of its notes or the error
//     engine-child grow lmdb PATH MISSING      takes address space away until the map cannot grow, and MISSING mebibytes more: prints what happens
//     engine-child sample ENGINE PATH          makes a store with everything that the format knows

import EngineTestSupport
import Foundation
import PolyStoreBackend
import PolyStoreKeyValue
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStoreSQLite

func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

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
    switch arguments[1] {
    case "sample": return try Store(configuration, try Sample.schema())
    case "reset": return try Store(configuration.resettingOnModelMismatch(), try Notes.schema(arguments[4]))
    case "insert": return try Store(configuration, try Notes.schema(arguments[4]))
    case "readonly": configuration.isReadOnly = true
    default: break
    }
    return try Store(configuration, try Notes.schema())
}

if arguments[1] == "limited" {
    // A write past the limit then fails instead of killing the process.
    signal(SIGXFSZ, SIG_IGN)
}

if arguments[1] == "reset" {
    say("ready")
    _ = readLine()
}
if arguments[1] == "readonly", number(4) > 0, setuid(uid_t(number(4))) != 0 { fail("the user cannot be changed") }
#if canImport(Glibc)
    /// Sets the limit of the address space.
    /// - Parameter bytes: added to what the process uses; nil: none.
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

    if arguments[1] == "grow" {
        // Large enough that the process needs little beside it.
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
case "open":
    say("ok")
    _ = readLine()
    try store.backend.close()
case "read":
    let transaction = try store.backend.beginRead()
    say("\(transaction.version)")
    _ = readLine()
    transaction.end()
case "write":
    for id in number(4)...number(5) {
        while true {
            do {
                try store.addNotes(id...id, size: Int(number(6)))
                break
            } catch let error as StoreError where error.code == .conflict {
                // The other process came in between while the map was made larger: once more.
            }
        }
        say("\(id)")
    }
    say("done")
    try store.backend.close()
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
    // What was committed can still be read.
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
case "fork": try Forking.run(store)
case "readonly":
    do { say("\(try store.ids("Note"))") } catch { say("\(error)") }
    try store.backend.close()
case "sample": try Sample.fill(store)
default: fail("there is no \(arguments[1])")
}
