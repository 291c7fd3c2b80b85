import Foundation
import PolyStore

/// Concurrent callers whose transactions are committed as groups.
enum Many {
    struct Refused: Error {}

    static func write(_ stack: DataStack) async throws -> Never {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for caller in 0..<64 {
                group.addTask {
                    var round = 0
                    while true {
                        round += 1
                        let isRefused = (caller + round) % 7 == 0
                        do {
                            let id = try await stack.perform { transaction in
                                let pair = [try transaction.create(Into<Entry>()), try transaction.create(Into<Entry>())]
                                for (number, entry) in pair.enumerated() {
                                    entry.group = Int(pair[0].objectID.rowID)
                                    entry.name = "\(isRefused ? "refused " : "")\(entry.group)-\(number)"
                                    entry.payload = Data(
                                        repeating: UInt8(truncatingIfNeeded: entry.group), count: 100 + entry.group * 37 % 3000)
                                }
                                transaction.sourceIdentifier = pair[0].objectID.rowID
                                if isRefused { throw Refused() }
                                return pair[0].objectID.rowID
                            }
                            // One write per line, so that the lines of concurrent callers do not interleave.
                            FileHandle.standardOutput.write(Data("\(id)\n".utf8))
                        } catch is Refused {}
                    }
                }
            }
            try await group.waitForAll()
        }
        fail("the callers have ended")
    }

    static func check(_ stack: DataStack, _ store: PersistentStore, acknowledged: String) throws {
        let findings = try store.verifyAndWait()
        guard findings.isEmpty else { fail("the store is damaged: \(findings)") }
        let entries = try stack.readAndWait { context in
            try context.fetchAll(From<Entry>()).map { ($0.group, $0.name, $0.payload) }
        }
        let pairs = Dictionary(grouping: entries, by: \.0)
        let ids = acknowledged.split(separator: "\n").compactMap { Int($0) }
        for id in ids where pairs[id] == nil { fail("\(id) was acknowledged, and is gone") }
        guard Set(ids).count == ids.count else { fail("an id was acknowledged twice") }
        for (group, pair) in pairs {
            guard pair.map(\.1).sorted() == ["\(group)-0", "\(group)-1"] else { fail("of \(group) there is \(pair.map(\.1))") }
            for (_, name, payload) in pair {
                guard payload.count == 100 + group * 37 % 3000, payload.allSatisfy({ $0 == UInt8(truncatingIfNeeded: group) }) else {
                    fail("\(name) is torn")
                }
            }
        }
        let recorded = try stack.historyAndWait().compactMap { $0.author.flatMap { Int($0) } }
        guard recorded.count == pairs.count, Set(recorded) == Set(pairs.keys) else {
            fail("the history has \(recorded.count) entries for \(pairs.count) pairs, or others")
        }
        print("\(pairs.count) pairs, \(ids.count) acknowledged")
    }
}
