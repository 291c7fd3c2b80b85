import Foundation
import HistoryTestSupport
import PolyStore
import SmallStores

// history-child write ENGINE PATH COUNT [no-history]   commits COUNT transactions after reading a line
// history-child timed ENGINE PATH COUNT PAUSE          the same with pauses of PAUSE milliseconds; prints the time of each commit's return
// history-child latency ENGINE PATH COUNT PAUSE        runs `timed` in another process and prints the latency of the notifications
// history-child merge ENGINE PATH COUNT SEED [no-history]   commits several random transactions after each line, COUNT times, and numbers the team "marker"
// history-child cost ENGINE PATH COUNT                 prints the duration of small commits with and without a history

let arguments = CommandLine.arguments
// Snapshots that are open for long prevent the map of LMDB from growing.
let mapSize = arguments.count > 1 && arguments[1] == "merge" ? 64 << 20 : 1 << 20
guard arguments.count >= 5, let count = Int(arguments[4]),
    let store = SmallStores.configuration(arguments[2], arguments[3], mapSize: mapSize)
else {
    print("usage: history-child write|timed|latency|merge|cost ENGINE PATH COUNT [no-history | PAUSE | SEED]")
    exit(2)
}
let option = arguments.count > 5 ? arguments[5] : ""

func stack() throws -> DataStack {
    let stack = try DataStack(HistoryModels.schema())
    try stack.addStore(store.durability(.relaxed), history: arguments.contains("no-history") ? nil : HistoryOptions())
    return stack
}

/// Writes a line without buffering.
func write(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

/// Commits one transaction: every fourth inserts a person, the others update the last one.
func commit(_ number: Int, _ stack: DataStack) throws {
    try stack.performAndWait(sourceIdentifier: "\(number)") { transaction in
        if number % 4 == 1 {
            try transaction.create(Into<Person>()).age = number
        } else {
            let last = try transaction.fetchOne(From<Person>(), OrderBy<Person>(.descending(\.age)))
            last?.age = number
        }
    }
}

switch arguments[1] {
case "write":
    let stack = try stack()
    write("ready")
    _ = readLine()
    for number in stride(from: 1, through: count, by: 1) { try commit(number, stack) }
    write("done")
case "timed":
    let stack = try stack()
    write("ready")
    _ = readLine()
    for number in stride(from: 1, through: count, by: 1) {
        try commit(number, stack)
        write("\(DispatchTime.now().uptimeNanoseconds)")
        usleep(UInt32(option).map { $0 * 1000 } ?? 20_000)
    }
case "merge":
    let stack = try stack()
    let seed = UInt64(option) ?? 0
    var merges = RandomMerges(stack, seed: seed)
    let marker = try stack.performAndWait { transaction throws in
        let marker = try transaction.create(Team.self)
        (marker.title, marker.note) = ("marker", "0")
        return marker.objectID
    }
    write("ready")
    for number in stride(from: 1, through: count, by: 1) {
        guard readLine() != nil else { break }
        let before = merges.count
        try merges.run(commits: 1 + number % 5)
        try stack.performAndWait { try $0.edit(marker).note = "\(number)" }
        write("\(merges.count - before)")
    }
case "latency":
    try await Latency(engine: arguments[2], path: arguments[3], count: count, pause: option).run(try stack())
case "cost":
    try Cost(engine: arguments[2], path: arguments[3], count: count).run()
default:
    print("unknown mode \(arguments[1])")
    exit(2)
}
