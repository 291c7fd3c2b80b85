import Foundation
import PolyStore
import TestSupport
import Testing

@Model
final class Meter {
    var level: UInt64 = 0
    var change: Int = 0
    var small: Int8 = 0
}

/// Updates by columns, on each backend.
@Suite struct ColumnUpdateTests {
    private static let all = From<Colleague>()

    @Test(arguments: Backend.forObjectLayer)
    func setsComputedValues(_ backend: Backend) throws {
        let staff = try Staff(backend)
        try staff.stack.performAndWait { transaction in
            // Pending changes are seen.
            try transaction.fetchOne(Self.all.where { $0.name == "Ann" })?.age = 11
            let count = try transaction.batchUpdate(Self.all.where { $0.age < 35 }) {
                $0.set(\.age) { $0.age * 2 + 1 }
                $0.set(\.score) { ($0.age > 30).then(1.5, else: 0.5) }
                $0.set(\.formerJob) { $0.job }
                $0.set(\.name) { $0.name.uppercased }
            }
            #expect(count == 3)
        }
        try staff.stack.readAndWait { context throws in
            let changed = try context.fetchAll(Self.all.where { $0.score.isIn([0.5, 1.5]) }.orderBy { $0.age })
            #expect(changed.map(\.age) == [23, 41, 61] && changed.map(\.score) == [0.5, 1.5, 1.5])
            #expect(changed.map(\.name) == ["ANN", "BOB", "CID"] && changed.allSatisfy { $0.formerJob == $0.job })
        }
    }

    /// Every value is computed before the first one is assigned.
    @Test(arguments: Backend.forObjectLayer)
    func valuesOfOtherObjectsAreThoseBefore(_ backend: Backend) throws {
        let staff = try Staff(backend)
        try staff.stack.performAndWait { transaction in
            try transaction.batchUpdate(Self.all) {
                $0.set(\.age) { $0.boss.age ?? 0 }
                $0.set(\.boss) { $0.boss.boss }
            }
        }
        try staff.stack.readAndWait { context throws in
            #expect(try context.queryRows(Self.all.orderBy { $0.name }.select { $0.age }) == [0, 10, 20, 50, 0, 0])
            #expect(try context.queryRows(Self.all.orderBy { $0.name }.select { $0.boss.name.orNil }) == [nil, nil, "Ann", nil, nil, nil])
            #expect(try context.fetchOne(Self.all.where { $0.name == "Ann" })?.reports.map(\.name) == ["Cid"])
        }
    }

    @Test func updatesThatDoNotFitChangeNothing() throws {
        let staff = try Staff(.memory)
        func refused(_ code: StoreError.Code, _ part: String, _ change: @escaping @Sendable (inout BatchChanges<Colleague>) -> Void) {
            let error = failure {
                try staff.stack.performAndWait { transaction in
                    let inner = failure { try transaction.batchUpdate(Self.all, set: change) }
                    #expect(!transaction.hasChanges)
                    if let inner { throw inner }
                }
            }
            #expect(error?.code == code && error?.message.contains(part) == true, "\(error.map { "\($0)" } ?? "no error")")
        }
        refused(.invalidValue, "Colleague.age") { $0.set(\.age) { $0.age / ($0.age - 10) } }
        refused(.invalidValue, "Colleague.name") { $0.set(\.name) { $0.boss.name } }
        refused(.invalidPredicate, "Colleague.initial") { $0.set(\.name) { $0.initial } }
        refused(.invalidPredicate, "average(age)") { $0.set(\.score) { $0.age.average } }
        refused(.invalidPredicate, "Colleague.initial") { $0.set(\.initial) { $0.name } }
    }

    @Test(arguments: Backend.forObjectLayer)
    func unsignedNumbersDoNotWrap(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try DataStack(Schema("Meters", Meter.self))
        try stack.addStore(backend.store(in: folder))
        try stack.performAndWait { try $0.create(Meter.self) { ($0.level, $0.change) = (1, -1) } }
        let changes: [@Sendable (inout BatchChanges<Meter>) -> Void] = [
            { $0.set(\.level) { $0.level - 2 } }, { $0.set(\.small) { $0.small + 100 + 100 } },
        ]
        for change in changes {
            try stack.performAndWait { transaction in
                #expect(failure { try transaction.batchUpdate(From<Meter>(), set: change) }?.code == .invalidValue)
            }
        }
        try stack.performAndWait { try $0.batchUpdate(From<Meter>()) { $0.set(\.level) { $0.level + 4 } } }
        #expect(
            try stack.readAndWait { try $0.queryRows(From<Meter>().select { ($0.level, $0.change, $0.small) }).first.map { "\($0)" } }
                == "(5, -1, 0)")
    }

    @Test(arguments: Backend.forObjectLayer)
    func upserts(_ backend: Backend) throws {
        let staff = try Staff(backend)
        for _ in 1...3 {
            try staff.stack.performAndWait { transaction in
                for name in ["Kim", "Ann"] {
                    try transaction.upsert(Self.all.where { $0.name == name }, insert: { $0.age = 1 }, update: { $0.age += 100 })
                }
            }
        }
        try staff.stack.readAndWait { context throws in
            #expect(
                try context.queryRows(Self.all.where { $0.name.isIn(["Kim", "Ann"]) }.orderBy { $0.name }.select { $0.age }) == [310, 201])
        }
        struct Stop: Error {}
        try staff.stack.performAndWait { transaction in
            #expect(throws: Stop.self) {
                try transaction.upsert(Self.all.where { $0.name == "Lou" }, insert: { _ in throw Stop() }, update: { _ in })
            }
            #expect(!transaction.hasChanges)
        }
    }
}
