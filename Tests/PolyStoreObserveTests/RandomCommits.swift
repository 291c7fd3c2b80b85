import PolyStore
import SeededRandom

/// Random changes of animals and their owners.
struct RandomCommits {
    var random: SplitMix64
    /// The configurations to create objects in.
    let configurations: [String?]

    init(seed: UInt64, configurations: [String?] = []) {
        random = SplitMix64(run: seed)
        self.configurations = configurations
    }

    /// Makes one to four changes.
    mutating func change(_ transaction: Transaction) throws {
        for _ in 0..<Int.random(in: 1...4, using: &random) { try changeOnce(transaction) }
    }

    private mutating func changeOnce(_ transaction: Transaction) throws {
        let animals = try transaction.fetchAll(From<Animal>()).filter { !$0.isDeleted }
        let owners = try transaction.fetchAll(From<Owner>()).filter { !$0.isDeleted }
        let kind = animals.count < 6 ? 0 : animals.count > 40 ? 8 : Int.random(in: 0..<22, using: &random)
        guard let animal = animals.randomElement(using: &random), let other = animals.randomElement(using: &random) else {
            return try create(transaction, owners)
        }
        switch kind {
        case 0...3: try create(transaction, owners)
        case 4, 5: animal.name = name()
        case 6: animal.age = age()
        case 7: animal.city = city()
        case 8, 9: try transaction.delete(animal)
        case 10: (animal.name, other.name) = (other.name, animal.name)
        case 11: animal.age = animal.age
        case 12, 13: animal.owner = near(animal, owners)
        case 14: if isNear(animal, other) { animal.friends.insert(other) }
        case 15: if isNear(animal, other) { animal.friends.remove(other) }
        case 16: try createOwner(transaction)
        case 17: owners.randomElement(using: &random)?.title = title()
        case 18: if owners.count > 3, let owner = owners.randomElement(using: &random) { try transaction.delete(owner) }
        case 19: if let dog = animal as? Dog { dog.tricks += 1 } else { (animal.name, animal.age) = (name(), age()) }
        case 20:
            try create(transaction, owners)
            try transaction.delete(animal)
        default: if let owner = owners.randomElement(using: &random), let near = near(owner, animals) { owner.animals.insert(near) }
        }
    }

    private mutating func create(_ transaction: Transaction, _ owners: [Owner]) throws {
        let configuration = configurations.randomElement(using: &random)
        let animal: Animal =
            if Bool.random(using: &random) {
                try transaction.create(configuration.map { Into<Animal>($0) } ?? Into<Animal>())
            } else {
                try transaction.create(configuration.map { Into<Dog>($0) } ?? Into<Dog>())
            }
        (animal.name, animal.age, animal.city) = (name(), age(), city())
        animal.owner = near(animal, owners)
        if owners.count < 3 { try createOwner(transaction) }
    }

    private mutating func createOwner(_ transaction: Transaction) throws {
        let configuration = configurations.randomElement(using: &random)
        try transaction.create(configuration.map { Into<Owner>($0) } ?? Into<Owner>()).title = title()
    }

    private func isNear(_ left: some Model, _ right: some Model) -> Bool {
        configurations.isEmpty || left.objectID.configuration == right.objectID.configuration
    }

    /// Returns an object in the same store as another one.
    private mutating func near<M: Model>(_ object: some Model, _ choices: [M]) -> M? {
        choices.filter { isNear(object, $0) }.randomElement(using: &random)
    }

    private mutating func name() -> String {
        ["a", "Ab", "abcdefgh1", "abcdefgh2", "abcdefgh", "B", "", "ç", "z\0z", "z"].randomElement(using: &random) ?? ""
    }
    private mutating func age() -> Int { [Int.random(in: -5...70, using: &random), 5, 300, 70_000].randomElement(using: &random) ?? 0 }
    private mutating func city() -> String? { [nil, "", "Rome", "Oslo", "Berlin"].randomElement(using: &random) ?? nil }
    private mutating func title() -> String { "T\(Int.random(in: 0...3, using: &random))" }
}
