import Foundation
import PolyStore

/// An object of a group of three. Later commits change the texts of some.
@Model
final class Entry {
    @Attribute(.indexed) var group: Int
    @Attribute(.unique) var name: String
    var payload: Data = Data()
    var text: String?
    #Search(\.text)
}

/// The same entity without its full-text index. A store that is opened with it drops the index, and the next opening with `Entry` builds it in the background.
@Model(entity: "Entry")
final class PlainEntry {
    @Attribute(.indexed) var group: Int
    @Attribute(.unique) var name: String
    var payload: Data = Data()
    var text: String?
}

@Model
final class Counter {
    var value: Int = 0
}

/// The two classes of the entity.
protocol GroupedEntry: Model {
    var group: Int { get set }
    var name: String { get set }
    var payload: Data { get set }
    var text: String? { get set }
}

extension Entry: GroupedEntry {}
extension PlainEntry: GroupedEntry {}

/// One caller, which commits numbered groups of entries.
enum Groups {
    /// Commits groups until the process is killed, and prints the number of each.
    static func write<E: GroupedEntry>(_ stack: DataStack, _: E.Type) throws -> Never {
        while true {
            let group = try stack.performAndWait { try commit($0, E.self) }
            FileHandle.standardOutput.write(Data("\(group)\n".utf8))
        }
    }

    private static func commit<E: GroupedEntry>(_ transaction: Transaction, _: E.Type) throws -> Int {
        let counter = try transaction.fetchOne(From<Counter>()) ?? transaction.create(Into<Counter>())
        counter.value += 1
        for number in 0..<3 {
            let entry = try transaction.create(Into<E>())
            entry.group = counter.value
            entry.name = "\(counter.value)-\(number)"
            entry.payload = Data(repeating: UInt8(truncatingIfNeeded: counter.value), count: 100 + counter.value * 37 % 9000)
            entry.text = Searching.text(counter.value)
        }
        func find(_ name: String) throws -> E? { try transaction.fetchOne(From<E>().where("name == %@", name)) }
        try find("\(counter.value - 2)-0")?.text = Searching.text(counter.value)
        if counter.value % 3 == 0 { try find("\(counter.value - 1)-1")?.text = nil }
        transaction.sourceIdentifier = counter.value
        if counter.value % 5 == 0 { try transaction.deleteAll(From<E>().where("group == %@", counter.value - 4)) }
        return counter.value
    }

    /// Returns the text of an entry after a number of commits.
    private static func text(_ group: Int, _ number: Int, after value: Int) -> String? {
        switch number {
        case 0 where group + 2 <= value: Searching.text(group + 2)
        case 1 where group + 1 <= value && (group + 1) % 3 == 0: nil
        default: Searching.text(group)
        }
    }

    static func check(_ stack: DataStack, _ store: PersistentStore, last: Int) throws {
        let findings = try store.verifyAndWait()
        guard findings.isEmpty else { fail("the store is damaged: \(findings)") }
        let (value, entries) = try stack.readAndWait { context in
            (
                try context.fetchOne(From<Counter>())?.value ?? 0,
                try context.fetchAll(From<Entry>()).map { ($0.group, $0.name, $0.payload, $0.text) }
            )
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
        for (group, name, payload, found) in entries {
            guard payload.count == 100 + group * 37 % 9000, payload.allSatisfy({ $0 == UInt8(truncatingIfNeeded: group) }) else {
                fail("\(name) is torn")
            }
            guard let number = name.last?.wholeNumberValue, found == text(group, number, after: value) else {
                fail("\(name) has the text '\(found ?? "")' after \(value) commits")
            }
        }
        guard groups.keys.allSatisfy({ $0 <= value }) else { fail("there are entries of groups that the counter has not reached") }
        let recorded = try stack.historyAndWait().compactMap(\.author)
        guard recorded == stride(from: 1, through: value, by: 1).map({ "\($0)" }) else {
            fail("the history has \(recorded.count) entries for \(value) groups, or others")
        }
        try Searching.check(
            stack, texts: entries.map { ($0.1, $0.3) }, words: [1, value / 2, value - 2, value - 1, value, value + 1].map { "number\($0)" })
        print("\(value) groups, \(last) acknowledged")
    }
}
