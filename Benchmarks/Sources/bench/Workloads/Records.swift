import Foundation
import PeerKit
import PolyStoreBackend
import PolyStoreQuery

/// The same workloads on records, the layer below objects: the cost of the backend alone. `W2r` corresponds to W2, and so on.
struct RecordWorkloads {
    let store: any StorageBackend
    let out: Reporter
    private let schema: ResolvedSchema
    private let person: Entity
    private let department: Entity

    init(_ configuration: StoreConfiguration, _ out: Reporter) throws {
        self.out = out
        schema = try ResolvedSchema(SchemaDescription(name: "Peers", entities: [Person._$entity, Department._$entity]))
        store = try configuration.open(schema: schema, configurationName: nil, logger: StandardErrorLogger())
        person = schema.entities[0]
        department = schema.entities[1]
    }

    func all() throws {
        try write()
        let reader = try store.beginRead()
        defer { reader.end() }
        try walk(reader)
        try lookUp(reader)
        try ranges(reader)
        try out.time("W5r", PB.scans, always: true) {
            let condition = QueryPredicate.and([
                .compare(FieldReference(person.fields[3]), .greater, .real(500)),
                .compare(FieldReference(person.fields[4]), .equal, .integer(1)),
            ])
            var sum: UInt64 = 0
            for _ in 0..<PB.scans { sum += UInt64(try reader.count(FetchRequest(person, predicate: condition))) }
            return sum
        }
        try groups(reader)
    }

    private func write() throws {
        let people = RawPerson.make(from: 1, count: PB.n)
        try out.time("W1r", PB.n) {
            let changes = ChangeSet(schema, capacity: 16 << 20)
            changes.reserve(PB.n + PB.departments)
            for number in 1...Int64(PB.departments) {
                try changes.insert(department, rowID: number) { $0.setText(0, departmentName(number)) }
            }
            for raw in people {
                try changes.insert(person, rowID: raw.id) { builder in
                    builder.setText(0, raw.name)
                    builder.setText(1, raw.email)
                    builder.setInteger(2, Int64(raw.age))
                    builder.setReal(3, raw.score)
                    builder.setInteger(4, raw.isActive ? 1 : 0)
                    builder.setReal(5, raw.createdAt.timeIntervalSinceReferenceDate)
                    builder.setText(6, raw.notes)
                    builder.setInteger(7, raw.departmentID)
                }
            }
            let transaction = try store.beginWrite()
            try transaction.apply(changes)
            _ = try transaction.commit(.full)
            return 0
        }
    }

    /// Reads every field.
    private func quick(_ id: Int64, _ record: RecordView) -> UInt64 {
        var sum = UInt64(bitPattern: id)
        for field in [0, 1, 6] {
            let bytes = record.bytes(field)
            sum &+= UInt64(bytes.count) &+ UInt64(bytes[0])
        }
        sum &+= UInt64(record.integer(2)) &+ UInt64(record.real(3)) &+ UInt64(record.integer(4))
        return sum &+ UInt64(record.real(5)) &+ UInt64(record.integer(7))
    }

    private func walk(_ reader: any ReadTransaction) throws {
        try out.time("W2r", PB.n) {
            var sum: UInt64 = 0
            let cursor = try reader.fetch(FetchRequest(person))
            while try cursor.next() { sum &+= quick(cursor.rowID, cursor.record) }
            return sum
        }
    }

    private func lookUp(_ reader: any ReadTransaction) throws {
        try out.time("W3r", PB.lookups) {
            var random = SplitMix64(workload: 3)
            var sum: UInt64 = 0
            for _ in 0..<PB.lookups {
                let id = Int64(random.next(below: UInt64(PB.n))) + 1
                if let record = try reader.record(person, rowID: id) { sum &+= quick(id, record) }
            }
            return sum
        }
    }

    private func ranges(_ reader: any ReadTransaction) throws {
        let age = FieldReference(person.fields[2])
        try out.time("W4r", PB.ranges) {
            var random = SplitMix64(workload: 4)
            var sum: UInt64 = 0
            for _ in 0..<PB.ranges {
                let least = Int64(random.next(below: 100))
                let request = FetchRequest(
                    person, predicate: .compare(age, .greaterOrEqual, .integer(least)), sortKeys: [SortKey(age)], limit: PB.limit)
                let cursor = try reader.fetch(request)
                while try cursor.next() { sum &+= quick(cursor.rowID, cursor.record) }
                cursor.close()
            }
            return sum
        }
    }

    private func groups(_ reader: any ReadTransaction) throws {
        let score = FieldReference(person.fields[3])
        let request = AggregateRequest(
            person, groupBy: [FieldReference(person.fields[2])], aggregates: [.count, .average(score), .minimum(score), .maximum(score)])
        try out.time("W6r", PB.scans, always: true) {
            var hash: UInt64 = 0
            for _ in 0..<PB.scans {
                for row in try reader.aggregate(request) {
                    guard case .integer(let age) = row.group[0], case .integer(let count) = row.values[0],
                        case .real(let average) = row.values[1],
                        case .real(let least) = row.values[2], case .real(let greatest) = row.values[3]
                    else { continue }
                    hash = groupHash(hash, age: Int(age), n: Int(count), avg: average, min: least, max: greatest)
                }
            }
            return hash
        }
    }
}
