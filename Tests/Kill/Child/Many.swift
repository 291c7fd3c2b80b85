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
                    var before: [ObjectID<Entry>] = []
                    while true {
                        round += 1
                        let isRefused = (caller + round) % 7 == 0
                        do {
                            let pair = try await stack.perform { [before] transaction in
                                let pair = [try transaction.create(Into<Entry>()), try transaction.create(Into<Entry>())]
                                for (number, entry) in pair.enumerated() {
                                    entry.group = Int(pair[0].objectID.rowID)
                                    entry.name = "\(isRefused ? "refused " : "")\(entry.group)-\(number)"
                                    entry.payload = Data(
                                        repeating: UInt8(truncatingIfNeeded: entry.group), count: 100 + entry.group * 37 % 3000)
                                    entry.text = text(entry.group, nil)
                                }
                                // The texts of the caller's previous pair change in the same transaction.
                                for id in before {
                                    let entry = try transaction.edit(id)
                                    entry.text = text(entry.group, pair[0].group)
                                }
                                transaction.sourceIdentifier = pair[0].objectID.rowID
                                if isRefused { throw Refused() }
                                return pair.map(\.objectID)
                            }
                            before = pair
                            // One write per line, so that the lines of concurrent callers do not interleave.
                            FileHandle.standardOutput.write(Data("\(pair[0].rowID)\n".utf8))
                        } catch is Refused {}
                    }
                }
            }
            try await group.waitForAll()
        }
        fail("the callers have ended")
    }

    /// Returns the text of an entry.
    /// - Parameter next: The group of the next pair of the same caller, or nil before its commit.
    private static func text(_ group: Int, _ next: Int?) -> String {
        next.map { "common group\(group) next\($0) quick brown filler5" } ?? "common group\(group) brown quick filler50"
    }

    /// Returns the group of the next pair of the same caller, according to a text.
    private static func next(_ text: String?) -> Int? {
        text?.split(separator: " ").first { $0.hasPrefix("next") }.flatMap { Int($0.dropFirst(4)) }
    }

    static func check(_ stack: DataStack, _ store: PersistentStore, acknowledged: String) throws {
        let findings = try store.verifyAndWait()
        guard findings.isEmpty else { fail("the store is damaged: \(findings)") }
        let entries = try stack.readAndWait { context in
            try context.fetchAll(From<Entry>()).map { ($0.group, $0.name, $0.payload, $0.text) }
        }
        let pairs = Dictionary(grouping: entries, by: \.0)
        let ids = acknowledged.split(separator: "\n").compactMap { Int($0) }
        for id in ids where pairs[id] == nil { fail("\(id) was acknowledged, and is gone") }
        guard Set(ids).count == ids.count else { fail("an id was acknowledged twice") }
        for (group, pair) in pairs {
            guard pair.map(\.1).sorted() == ["\(group)-0", "\(group)-1"] else { fail("of \(group) there is \(pair.map(\.1))") }
            let following = pair.map { next($0.3) }
            guard Set(following).count == 1, following[0].map({ pairs[$0] != nil }) ?? true else {
                fail("the texts of \(group) name the next pairs \(following), which must be one existing pair")
            }
            for (_, name, payload, found) in pair {
                guard found == text(group, following[0]) else { fail("\(name) has the text '\(found ?? "")'") }
                guard payload.count == 100 + group * 37 % 3000, payload.allSatisfy({ $0 == UInt8(truncatingIfNeeded: group) }) else {
                    fail("\(name) is torn")
                }
            }
        }
        let recorded = try stack.historyAndWait().compactMap { $0.author.flatMap { Int($0) } }
        guard recorded.count == pairs.count, Set(recorded) == Set(pairs.keys) else {
            fail("the history has \(recorded.count) entries for \(pairs.count) pairs, or others")
        }
        let words = ids.suffix(4).flatMap { ["group\($0)", "next\($0)"] } + ["refused"]
        try Searching.check(stack, texts: entries.map { ($0.1, $0.3) }, words: words)
        print("\(pairs.count) pairs, \(ids.count) acknowledged")
    }
}
