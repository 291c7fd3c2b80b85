import Foundation
import PolyStore
import TestSupport
import Testing

enum Trade: String, CaseIterable, Sendable {
    case engineer, doctor, clerk
}

enum Priority: Int, Comparable, Sendable {
    case low = 0
    case normal = 5
    case high = 10

    static func < (left: Priority, right: Priority) -> Bool { left.rawValue < right.rawValue }
}

@Model
final class Colleague {
    var name: String = ""
    @Attribute(.indexed) var job: Trade = Trade.clerk
    var formerJob: Trade?
    @Attribute(.indexed) var priority: Priority = Priority.low
    var urgency: Priority?
    var salary: Decimal = 0
    var bonus: Decimal?
    var isActive: Bool = false
    var isHead: Bool?
    @Attribute(.indexed) var age: Int = 0
    var score: Double?
    var born: Date?
    @Relationship(inverse: "friends") var friends: Set<Colleague>
    @Relationship(inverse: "reports") var boss: Colleague?
    @Relationship var reports: Set<Colleague>
    @Relationship(inverse: "owner") var errands: [Errand]

    /// Not stored.
    var initial: String { String(name.prefix(1)) }
}

@Model
final class Errand {
    var title: String = ""
    var hours: Int = 0
    @Relationship var owner: Colleague?
}

/// A stack with the sample objects of the query tests.
///
/// Ann, Bob, Cid, Dan, Eve and Jan are 10, 20, … 60. These pairs are friends: Ann and Bob, Bob and Cid, Dan and Eve. Ann is the boss of Bob, Bob of Cid,
/// Eve of Dan. Ann has the errands plan (3 hours), build (5) and test (1), in this order. Bob has test (2).
final class Staff {
    let stack: DataStack
    private let folder: Folder

    init(_ backend: Backend) throws {
        folder = try Folder()
        stack = try DataStack(Schema("Staff", Colleague.self, Errand.self))
        try stack.addStore(backend.store(in: folder))
        try stack.performAndWait { try Self.fill($0) }
    }

    private static func decimal(_ text: String) throws -> Decimal { try #require(Decimal(string: text)) }

    private static func fill(_ transaction: Transaction) throws {
        let jobs: [Trade] = [.engineer, .doctor, .clerk, .engineer, .doctor, .clerk]
        let former: [Trade?] = [nil, .engineer, .doctor, .clerk, nil, .engineer]
        let priorities: [Priority] = [.low, .normal, .high, .normal, .high, .low]
        let urgencies: [Priority?] = [nil, .high, .low, .normal, nil, .high]
        let salaries = ["0.1", "0.2", "0.3", "1000000000000000000000.05", "-5", "12.5"]
        let bonuses = [nil, "1.10", nil, "2.20", "3.30", nil]
        let active = [true, false, true, true, false, false]
        let heads: [Bool?] = [nil, true, false, true, nil, false]
        let scores: [Double?] = [1.5, nil, -2.5, 4, 9, nil]
        let births: [Double?] = [0, 1000, nil, 3000, 4000, 5000]
        let all = try ["Ann", "Bob", "Cid", "Dan", "Eve", "Jan"].enumerated().map { index, name in
            let one = try transaction.create(Into<Colleague>())
            (one.name, one.age, one.job, one.formerJob) = (name, 10 * (index + 1), jobs[index], former[index])
            (one.priority, one.urgency, one.isActive, one.isHead) = (priorities[index], urgencies[index], active[index], heads[index])
            (one.salary, one.bonus) = (try decimal(salaries[index]), try bonuses[index].map { try decimal($0) })
            (one.score, one.born) = (scores[index], births[index].map { Date(timeIntervalSinceReferenceDate: $0) })
            return one
        }
        all[1].friends = [all[0], all[2]]
        all[3].friends = [all[4]]
        (all[1].boss, all[2].boss, all[3].boss) = (all[0], all[1], all[4])
        func errand(_ title: String, _ hours: Int) throws -> Errand {
            let errand = try transaction.create(Into<Errand>())
            (errand.title, errand.hours) = (title, hours)
            return errand
        }
        let (test, plan, build) = (try errand("test", 1), try errand("plan", 3), try errand("build", 5))
        all[0].errands = [plan, build, test]
        all[1].errands = [try errand("test", 2)]
    }

    /// Returns the initials of the colleagues that satisfy a condition, ordered by age.
    func initials(_ condition: Where<Colleague>) throws -> String {
        try stack.readAndWait { context in
            String(try context.fetchAll(From<Colleague>(), condition, OrderBy(.ascending(\.age))).compactMap(\.name.first))
        }
    }

    /// Returns the error message of a fetch.
    func error(_ condition: Where<Colleague>) throws -> String {
        do {
            _ = try initials(condition)
            return "no error"
        } catch let error as StoreError {
            #expect(error.code == .invalidPredicate, "\(error)")
            return error.message
        }
    }
}
