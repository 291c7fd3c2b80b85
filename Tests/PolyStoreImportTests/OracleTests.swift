import Foundation
import PolyStore
import SeededRandom
import TestSupport
import Testing

/// Random imports, compared with a model that implements the documented rules.
@Suite
struct ImportOracleTests {
    static let cases = TestEnvironment.number("POLYSTORE_ORACLE_CASES") ?? 300

    @Test(arguments: Backend.forObjectLayer)
    func importsAgreeWithTheModel(_ backend: Backend) throws {
        var calls = 0
        var seed: UInt64 = 0
        while calls < Self.cases {
            seed += 1
            let world = try World(backend)
            var state = ImportModel()
            var random = SplitMix64(seed: seed)
            for _ in 0..<6 {
                let plan = TransactionPlan(&random)
                calls += plan.calls.count
                let outcome = state.run(plan)
                let seen = try carryOut(plan, world.stack)
                #expect(seen == outcome, "seed \(seed) on \(backend): \(plan)")
                let stored = try contents(world.stack)
                guard stored == state.committed, seen == outcome else {
                    Issue.record("seed \(seed) on \(backend): \(plan)\nexpected \(state.committed)\nstored \(stored)")
                    return
                }
            }
        }
        print("import oracle \(backend): \(calls) calls")
    }

    /// Executes a plan.
    /// - Returns: The numbers of the objects of each call, and the outcome of the transaction.
    func carryOut(_ plan: TransactionPlan, _ stack: DataStack) throws -> Outcome {
        let results = Results()
        let body: @Sendable (Transaction) throws -> Void = { transaction in
            for call in plan.calls {
                do {
                    let imported = try transaction.importUniqueObjects(Into<City>(), from: call)
                    results.add(imported.map(\.number))
                } catch is ImportFailure {
                    results.add(nil)
                }
            }
        }
        var ending = Ending.committed
        do {
            switch plan.kind {
            case .queued: try stack.performAndWait(body)
            case .discarded:
                try stack.performAndWait { transaction throws in
                    try body(transaction)
                    throw CancellationError()
                }
            case .explicit:
                _ = try stack.beginSynchronous { transaction throws in
                    try body(transaction)
                    try transaction.commit()
                }
            case .draft, .child:
                let draft = stack.beginUnsafe()
                if plan.kind == .child {
                    let child = draft.beginUnsafe()
                    try body(child)
                    try child.commit()
                } else {
                    try body(draft)
                }
                try draft.commit()
            }
        } catch is CancellationError {
            ending = .discarded
        } catch let error as StoreError where error.code == .notFound {
            ending = .missing
        }
        return Outcome(results: results.all, ending: ending)
    }

    func contents(_ stack: DataStack) throws -> ModelContents {
        try stack.readAndWait { context throws in
            var contents = ModelContents()
            for city in try context.fetchAll(From<City>()) {
                contents.cities[city.number] = ModelCity(
                    name: city.name, updates: city.updates, country: city.country?.code, centre: city.centre?.number,
                    route: city.route.map(\.number))
            }
            for country in try context.fetchAll(From<Country>()) { contents.countries[country.code] = country.name }
            return contents
        }
    }
}

struct TransactionPlan: Sendable {
    enum Kind: CaseIterable { case queued, discarded, explicit, draft, child }

    var kind: Kind
    var calls: [[CitySource]]

    init(_ random: inout SplitMix64) {
        kind = Kind.allCases[random.below(Kind.allCases.count)]
        calls = []
        for _ in 0...random.below(3) { calls.append((0...random.below(6)).map { _ in Self.source(&random, depth: 0) }) }
    }

    static func source(_ random: inout SplitMix64, depth: Int) -> CitySource {
        var source = CitySource(number: random.chance(8) ? nil : random.below(12), name: "n\(random.below(1000))")
        let policies: [MissingReference] = [.fail, .ignore, .ignore, .createStub, .createStub, .createStub]
        source.ifMissing = policies[random.below(policies.count)]
        // References that can fail use targets that are likely to exist.
        let reach = source.ifMissing == .fail ? 4 : 14
        if random.chance(40) { source.country = "c\(random.below(reach))" }
        if random.chance(40) { source.centre = random.below(reach) }
        if random.chance(25) { source.route = (0..<random.below(4)).map { _ in random.below(reach) } }
        if random.chance(20) {
            source.nested = CountrySource(code: random.chance(10) ? nil : "c\(random.below(8))", name: "m\(random.below(1000))")
        }
        if depth < 2, random.chance(12) { source.twin = (0...random.below(3)).map { _ in self.source(&random, depth: depth + 1) } }
        source.skipsInsert = random.chance(8)
        source.skipsUpdate = random.chance(8)
        source.fails = random.chance(3)
        source.failsID = random.chance(1)
        return source
    }
}

enum Ending { case committed, discarded, missing }

struct Outcome: Equatable {
    var results: [[Int]?]
    var ending: Ending
}

final class Results: @unchecked Sendable {  // used by one transaction after another
    private(set) var all: [[Int]?] = []
    func add(_ numbers: [Int]?) { all.append(numbers) }
}

extension SplitMix64 {
    fileprivate mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
}
