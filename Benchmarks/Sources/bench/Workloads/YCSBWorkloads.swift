import Foundation
import PeerKit
import PolyStoreCore

/// W15: the core workloads of the Yahoo! Cloud Serving Benchmark, records of ten fields of 100 bytes with a unique key. Every operation is a
/// separate snapshot or transaction; commits are relaxed, as in that benchmark's bindings for embedded stores.
struct YCSBWorkloads: Sendable {
    private let store: BenchStore
    private let records = min(PB.n, 100_000)
    private let operations = max(100, min(PB.n / 10, 10_000))
    private var out: Reporter { store.out }

    private enum Operation { case read, update, insert, scan, readModifyWrite }
    private enum Choice { case zipf, latest }

    /// One of the six mixes: up to two operations, the first with its percentage.
    private struct Mix {
        let name: String
        let first: Operation
        let share: UInt64
        let second: Operation
        var choice = Choice.zipf
    }

    init(_ store: BenchStore) { self.store = store }

    func all() throws {
        let stack = try DataStack(Schema("YCSB", Entry.self))
        try stack.addStore(store.configuration("ycsb"))
        try out.time("W15", records, note: "load, 10,000 in a transaction") {
            for start in stride(from: 0, to: records, by: 10_000) {
                try stack.performAndWait(durability: .relaxed) { transaction in
                    for number in start..<min(start + 10_000, records) { try Self.insert(number, transaction) }
                }
            }
            return 0
        }
        var count = records
        for mix in [
            Mix(name: "A", first: .read, share: 50, second: .update), Mix(name: "B", first: .read, share: 95, second: .update),
            Mix(name: "C", first: .read, share: 100, second: .read),
            Mix(name: "D", first: .read, share: 95, second: .insert, choice: .latest),
            Mix(name: "E", first: .scan, share: 95, second: .insert), Mix(name: "F", first: .read, share: 50, second: .readModifyWrite),
        ] {
            try run(mix, stack, &count)
        }
    }

    private func run(_ mix: Mix, _ stack: DataStack, _ count: inout Int) throws {
        var random = SplitMix64(workload: 1500 + Int(mix.name.utf8.first ?? 0))
        var zipf = Zipf(count)
        var sum: UInt64 = 0
        let start = Stamp()
        for _ in 0..<operations {
            let operation = random.next(below: 100) < mix.share ? mix.first : mix.second
            if operation == .insert {
                let number = count
                try stack.performAndWait(durability: .relaxed) { transaction in try Self.insert(number, transaction) }
                count += 1
                zipf.grow(to: count)
                continue
            }
            let number = mix.choice == .latest ? count - 1 - zipf.next(&random) : zipf.nextScattered(&random)
            let key = Self.key(number)
            let detail = random.next()
            switch operation {
            case .read:
                sum &+= try stack.readAndWait { context in try context.fetchOne(From<Entry>(), Where(\.key == key)).map(Self.touch) ?? 0 }
            case .update, .readModifyWrite:
                sum &+= try stack.performAndWait(durability: .relaxed) { transaction in
                    guard let entry = try transaction.fetchOne(From<Entry>(), Where(\.key == key)) else { return 0 }
                    let before = operation == .readModifyWrite ? Self.touch(entry) : 0
                    Self.change(entry, detail)
                    return before
                }
            case .scan:
                let length = 1 + Int(detail % 100)
                sum &+= try stack.readAndWait { context in
                    try context.fetchAll(From<Entry>().where(\.key >= key).orderBy(.ascending(\.key)).limit(length))
                        .reduce(0) { $0 &+ Self.touch($1) }
                }
            case .insert: break
            }
        }
        out.emit("W15\(mix.name)", operations, start, Stamp(), check: sum)
    }

    /// Creates a key as YCSB does: a hash of the number, so that new keys are spread over the whole range.
    private static func key(_ number: Int) -> String {
        var random = SplitMix64(seed: UInt64(number))
        return "user\(random.next())"
    }

    private static func text(_ seed: UInt64) -> String {
        var random = SplitMix64(seed: seed)
        return String(unsafeUninitializedCapacity: 100) { bytes in
            for at in 0..<100 { bytes[at] = 97 + UInt8(truncatingIfNeeded: random.next(below: 26)) }
            return 100
        }
    }

    private static func insert(_ number: Int, _ transaction: Transaction) throws {
        let entry = try transaction.create(Into<Entry>())
        let seed = UInt64(number) &* 10
        entry.key = key(number)
        entry.field0 = text(seed)
        entry.field1 = text(seed + 1)
        entry.field2 = text(seed + 2)
        entry.field3 = text(seed + 3)
        entry.field4 = text(seed + 4)
        entry.field5 = text(seed + 5)
        entry.field6 = text(seed + 6)
        entry.field7 = text(seed + 7)
        entry.field8 = text(seed + 8)
        entry.field9 = text(seed + 9)
    }

    /// Assigns a new value to a random field.
    private static func change(_ entry: Entry, _ detail: UInt64) {
        let value = text(detail)
        switch detail % 10 {
        case 0: entry.field0 = value
        case 1: entry.field1 = value
        case 2: entry.field2 = value
        case 3: entry.field3 = value
        case 4: entry.field4 = value
        case 5: entry.field5 = value
        case 6: entry.field6 = value
        case 7: entry.field7 = value
        case 8: entry.field8 = value
        default: entry.field9 = value
        }
    }

    /// A checksum over all ten fields, independent of the order of rows.
    private static func touch(_ entry: Entry) -> UInt64 {
        func part(_ text: String) -> UInt64 { UInt64(text.utf8.count) &+ UInt64(text.utf8.first ?? 0) &* 257 }
        var sum = part(entry.key) &+ part(entry.field0) &+ part(entry.field1) &+ part(entry.field2) &+ part(entry.field3)
        sum &+= part(entry.field4) &+ part(entry.field5) &+ part(entry.field6) &+ part(entry.field7) &+ part(entry.field8)
        return sum &+ part(entry.field9)
    }
}
