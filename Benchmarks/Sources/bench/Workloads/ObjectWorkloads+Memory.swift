import PeerKit
import PolyStoreCore

extension ObjectWorkloads {
    /// M1: fetches every person once, in batches.
    func walkInBatches() throws {
        let stack = try store.stack()
        let before = Memory()
        let start = Stamp()
        let (sum, most) = try stack.readAndWait { context in
            var most = 0
            var sum: UInt64 = 0
            var batches = 0
            try context.fetchInBatches(From<Person>(), size: 1000) { people in
                for person in people { sum &+= quickHash(person) }
                batches += 1
                if batches % 100 == 0 { most = max(most, Memory().anonymous) }
            }
            return (sum, most)
        }
        let end = Stamp()
        sink &+= sum
        out.emit(
            "M1", PB.n, seconds: end.wall - start.wall, cpu: end.cpu - start.cpu, note: "batches of 1,000",
            extra: [("before_kb", before.resident), ("anonymous_kb", most)])
    }

    /// M2: imports as many persons, in transactions of 10,000, with sources created on demand.
    func importStreamed() throws {
        let stack = try store.open()
        let departments = try BenchStore.makeDepartments(stack)
        let before = Memory()
        let start = Stamp()
        var most = 0
        for first in stride(from: 1, through: PB.n, by: 10_000) {
            try BenchStore.insert(RawPerson.make(from: Int64(first), count: min(10_000, PB.n + 1 - first)), departments, stack)
            most = max(most, Memory().anonymous)
        }
        let end = Stamp()
        out.emit(
            "M2", PB.n, seconds: end.wall - start.wall, cpu: end.cpu - start.cpu, note: "making the sources included",
            extra: [("before_kb", before.resident), ("anonymous_kb", most)])
    }
}
