package import PolyStore
import SeededRandom

/// The random commits of one process: transactions that change, delete and insert objects, and unqueued transactions that stay open while others commit and
/// then overwrite their changes, which inserts deleted objects again.
package struct RandomMerges {
    private var random: SplitMix64
    private let stack: DataStack
    private var drafts: [UnsafeTransaction] = []
    /// The number of commits.
    package private(set) var count = 0

    package init(_ stack: DataStack, seed: UInt64) {
        self.stack = stack
        random = SplitMix64(seed: seed)
    }

    /// Commits several transactions.
    package mutating func run(commits: Int) throws {
        let end = count + commits
        while count < end { try step() }
    }

    private mutating func step() throws {
        switch random.below(10) {
        case 0...2:
            let seed = random.next()
            try stack.performAndWait { transaction throws in
                var generator = SplitMix64(seed: seed)
                for _ in 0...generator.below(3) { try Self.change(transaction, &generator) }
            }
            count += 1
        case 3...4:
            let number = random.below(1000)
            try stack.performAndWait { transaction throws in
                let people = try transaction.fetchAll(From<Person>())
                let cars = try transaction.fetchAll(From<Car>())
                switch number % 5 {
                case 0: if cars.count > 2 { try transaction.delete(cars[number % cars.count]) }
                case 1:
                    let teams = try transaction.fetchAll(From<Team>().where(\.note == nil))
                    if teams.count > 2 { try transaction.delete(teams[number % teams.count]) }
                default: if people.count > 3 { try transaction.delete(people[number % people.count]) }
                }
            }
            count += 1
        case 5...6:
            guard drafts.count < 4 else { return try commitDraft() }
            let draft = stack.beginUnsafe(supportsUndo: random.once(in: 2))
            for _ in 0...random.below(3) { try Self.change(draft, &random) }
            drafts.append(draft)
        default: try commitDraft()
        }
    }

    /// Commits an open transaction, which may have been begun many commits ago.
    private mutating func commitDraft() throws {
        guard !drafts.isEmpty else { return }
        let draft = drafts.remove(at: random.below(drafts.count))
        if draft.supportsUndo, random.once(in: 3) {
            draft.flush()
            if random.once(in: 2) { draft.refresh() }
            try draft.undo()
            try draft.redo()
        }
        if random.once(in: 4) { draft.refresh() }
        try draft.commitAndWait(mergePolicy: random.pick([.mineWins, .mineWins, .attributesMineWins]))
        count += 1
        // Its objects are committed again later.
        if random.once(in: 2) {
            for _ in 0...random.below(2) { try Self.change(draft, &random) }
            drafts.append(draft)
        }
    }

    /// Creates, changes or deletes an object.
    private static func change(_ transaction: Transaction, _ random: inout SplitMix64) throws {
        let people = try transaction.fetchAll(From<Person>()).filter { !$0.isDeleted }
        let teams = try transaction.fetchAll(From<Team>().where(\.note == nil)).filter { !$0.isDeleted }
        let cars = try transaction.fetchAll(From<Car>()).filter { !$0.isDeleted }
        guard people.count > 3, teams.count > 1, cars.count > 1 else { return try create(transaction, teams, &random) }
        let (person, team) = (random.pick(people), random.pick(teams))
        switch random.below(12) {
        case 0: if people.count < 25 { try create(transaction, teams, &random) }
        case 1: person.name = "\(random.below(20))"
        case 2: (person.age, person.note) = (random.below(60), random.once(in: 2) ? nil : "n")
        case 3: person.team = random.once(in: 3) ? nil : team
        case 4: person.friends = Set(random.pick(random.below(4), of: people))
        case 5: person.friends.insert(random.pick(people))
        case 6: team.staff = Set(random.pick(random.below(5), of: people))
        case 7: team.title = "T\(random.below(4))"
        case 8: random.pick(cars).doors = random.below(6)
        case 9: if people.count > 8 { try transaction.delete(person) }
        case 10: if teams.count > 3 { try transaction.delete(team) }
        default: (person.age, person.team) = (person.age + 1, team)
        }
    }

    private static func create(_ transaction: Transaction, _ teams: [Team], _ random: inout SplitMix64) throws {
        for _ in 0..<2 {
            let person = try transaction.create(Person.self)
            (person.name, person.age) = ("\(random.below(20))", random.below(60))
            if !teams.isEmpty { person.team = random.pick(teams) }
        }
        if teams.count < 5 { try transaction.create(Team.self).title = "T\(random.below(4))" }
        if random.once(in: 2) { try transaction.create(Car.self).maker = "\(random.below(9))" }
    }
}
