// Writes until it is killed, or checks the store of a killed process.
//
//     kill-child write ENGINE STORE            commits groups of three objects, and prints a group's number once its commit is acknowledged
//     kill-child write-plain ENGINE STORE      the same with a model without full-text indexes, which the store then drops
//     kill-child check ENGINE STORE LAST       checks that every group up to LAST is complete, every other one complete or absent, that the history has
//                                              one entry for each, that searches find what the texts contain, and that the store is consistent
//     kill-child check-built ENGINE STORE LAST the same, when the full-text index is complete
//
//     kill-child fork ENGINE STORE             uses a stack in a forked child, then continues to use it in the parent
//
//     kill-child block ENGINE COMMITS          prints the memory growth of commits while the main actor is blocked
//
//     kill-child write-many ENGINE STORE       64 concurrent callers commit pairs of objects, and print the first one's id once it is acknowledged
//     kill-child check-many ENGINE STORE FILE  checks that every pair listed in the file exists, that every other one is complete, that the history has
//                                              one entry for each, that searches find what the texts contain, and that the store is consistent
//
//     kill-child make-file ENGINE FILE COUNT   writes a file of records
//     kill-child import ENGINE STORE FILE      imports the file, resuming after the batches of a killed process, and prints the report at the end
//     kill-child check-import ENGINE STORE COUNT   checks that every record of the file was imported once, and that the store is consistent

import EngineTestSupport
import Foundation
import PolyStore
import SmallStores

func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("kill-child: \(message)\n".utf8))
    exit(1)
}

let arguments = CommandLine.arguments
guard arguments.count >= 4 else {
    fail(
        "usage: kill-child write|write-plain|write-many ENGINE STORE | check|check-built ENGINE STORE LAST | check-many ENGINE STORE FILE | import ENGINE STORE FILE | check-import ENGINE STORE COUNT"
    )
}
if arguments[1] == "make-file", arguments.count == 5, let count = Int(arguments[4]) {
    try Importing.makeFile(arguments[3], count)
    exit(0)
}
if arguments[1] == "block", let commits = Int(arguments[3]) {
    try BlockedView.run(commits: commits)
    exit(0)
}
// Small limits: the map grows and memtables are flushed before the child is killed.
guard let configuration = SmallStores.configuration(arguments[2], arguments[3]) else { fail("unknown engine \(arguments[2])") }
let isPlain = arguments[1] == "write-plain"
let stack = try DataStack(
    isPlain ? Schema("Kill", PlainEntry.self, Counter.self, PlainRow.self) : Schema("Kill", Entry.self, Counter.self, Row.self))
let store = try stack.addStore(configuration, history: HistoryOptions())

if arguments[1] == "write" { try Groups.write(stack, Entry.self) }
if isPlain { try Groups.write(stack, PlainEntry.self) }
if arguments[1] == "fork" {
    try ForkedStack.run(stack)
    exit(0)
}
if arguments[1] == "import", arguments.count == 5 {
    try Importing.run(stack, arguments[4])
    exit(0)
}
if arguments[1] == "check-import", arguments.count == 5, let count = Int(arguments[4]) {
    try Importing.check(stack, store, count)
    exit(0)
}
if arguments[1] == "write-many" { try await Many.write(stack) }
if arguments[1] == "check-many", arguments.count == 5 {
    try Many.check(stack, store, acknowledged: String(contentsOfFile: arguments[4], encoding: .utf8))
    exit(0)
}

guard ["check", "check-built"].contains(arguments[1]), arguments.count == 5, let last = Int(arguments[4]) else {
    fail("usage: kill-child check|check-built ENGINE STORE LAST")
}
if arguments[1] == "check-built" { try Searching.waitUntilBuilt(stack) }
try Groups.check(stack, store, last: last)
