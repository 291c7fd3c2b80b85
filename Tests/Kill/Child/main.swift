// Writes until it is killed, or checks the store of a killed process.
//
//     kill-child write ENGINE STORE            commits groups of three objects, and prints a group's number once its commit is acknowledged
//     kill-child check ENGINE STORE LAST       checks that every group up to LAST is complete, every other one complete or absent, that the history has
//                                              one entry for each, and that the store is consistent
//
//     kill-child fork ENGINE STORE             uses a stack in a forked child, then continues to use it in the parent
//
//     kill-child block ENGINE COMMITS          prints the memory growth of commits while the main actor is blocked
//
//     kill-child write-many ENGINE STORE       64 concurrent callers commit pairs of objects, and print the first one's id once it is acknowledged
//     kill-child check-many ENGINE STORE FILE  checks that every pair listed in the file exists, that every other one is complete, that the history has
//                                              one entry for each, and that the store is consistent
//
//     kill-child make-file ENGINE FILE COUNT   writes a file of records
//     kill-child import ENGINE STORE FILE      imports the file, resuming after the batches of a killed process, and prints the report at the end
//     kill-child check-import ENGINE STORE COUNT   checks that every record of the file was imported once, and that the store is consistent

import EngineTestSupport
import Foundation
import PolyStore
import SmallStores

@Model
final class Entry {
    @Attribute(.indexed) var group: Int
    @Attribute(.unique) var name: String
    var payload: Data = Data()
}

@Model
final class Counter {
    var value: Int = 0
}

func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("kill-child: \(message)\n".utf8))
    exit(1)
}

let arguments = CommandLine.arguments
guard arguments.count >= 4 else {
    fail(
        "usage: kill-child write|write-many ENGINE STORE | check ENGINE STORE LAST | check-many ENGINE STORE FILE | import ENGINE STORE FILE | check-import ENGINE STORE COUNT"
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
let stack = try DataStack(Schema("Kill", Entry.self, Counter.self, Row.self))
let store = try stack.addStore(configuration, history: HistoryOptions())

if arguments[1] == "write" {
    while true {
        let group = try stack.performAndWait { transaction in
            let counter = try transaction.fetchOne(From<Counter>()) ?? transaction.create(Into<Counter>())
            counter.value += 1
            for number in 0..<3 {
                let entry = try transaction.create(Into<Entry>())
                entry.group = counter.value
                entry.name = "\(counter.value)-\(number)"
                entry.payload = Data(repeating: UInt8(truncatingIfNeeded: counter.value), count: 100 + counter.value * 37 % 9000)
            }
            transaction.sourceIdentifier = counter.value
            if counter.value % 5 == 0 { try transaction.deleteAll(From<Entry>(), Where(\.group == counter.value - 4)) }
            return counter.value
        }
        FileHandle.standardOutput.write(Data("\(group)\n".utf8))
    }
}

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

guard arguments.count == 5, let last = Int(arguments[4]) else { fail("usage: kill-child check STORE LAST") }
let findings = try store.verifyAndWait()
guard findings.isEmpty else { fail("the store is damaged: \(findings)") }
let (value, entries) = try stack.readAndWait { context in
    (try context.fetchOne(From<Counter>())?.value ?? 0, try context.fetchAll(From<Entry>()).map { ($0.group, $0.name, $0.payload) })
}
guard value >= last else { fail("group \(last) was acknowledged, and the counter is at \(value)") }
let groups = Dictionary(grouping: entries, by: \.0)
for group in 1...max(value, 1) where value > 0 {
    // The first of every five groups is deleted in the commit of the fifth.
    let isDeleted = group % 5 == 1 && group + 4 <= value
    guard groups[group, default: []].count == (isDeleted ? 0 : 3) else {
        fail("group \(group) of \(value) has \(groups[group]?.count ?? 0) entries")
    }
}
for (group, name, payload) in entries {
    guard payload.count == 100 + group * 37 % 9000, payload.allSatisfy({ $0 == UInt8(truncatingIfNeeded: group) }) else {
        fail("\(name) is torn")
    }
}
guard groups.keys.allSatisfy({ $0 <= value }) else { fail("there are entries of groups that the counter has not reached") }
let recorded = try stack.historyAndWait().compactMap(\.author)
guard recorded == stride(from: 1, through: value, by: 1).map({ "\($0)" }) else {
    fail("the history has \(recorded.count) entries for \(value) groups, or others")
}
print("\(value) groups, \(last) acknowledged")
