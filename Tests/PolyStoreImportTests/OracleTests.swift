import Foundation
import PolyStore
import Testing

/// Random imports, compared with a model that implements the documented rules.
@Suite(.serialized)
struct ImportOracleTests {
    static let cases = ProcessInfo.processInfo.environment["POLYSTORE_ORACLE_CASES"].flatMap(Int.init) ?? 300

    @Test(arguments: Backend.allCases)
    func importsDoWhatTheModelDoes(_ backend: Backend) throws {
        var calls = 0
        var seed: UInt64 = 0
        while calls < Self.cases {
            seed += 1
            let world = try World(backend)
            var state = ImportModel()
            var random = Random(seed)
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

/// A SplitMix64 generator, so that a seed gives the same imports everywhere.
struct Random {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next(_ bound: Int) -> Int {
        state &+= 0x9e37_79b9_7f4a_7c15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xbf58_476d_1ce4_e5b9
        bits = (bits ^ (bits >> 27)) &* 0x94d0_49bb_1331_11eb
        return Int((bits ^ (bits >> 31)) % UInt64(bound))
    }

    mutating func chance(_ percent: Int) -> Bool { next(100) < percent }
}

struct TransactionPlan: Sendable {
    enum Kind: CaseIterable { case queued, discarded, explicit, draft, child }

    var kind: Kind
    var calls: [[CitySource]]

    init(_ random: inout Random) {
        kind = Kind.allCases[random.next(Kind.allCases.count)]
        calls = []
        for _ in 0...random.next(3) { calls.append((0...random.next(6)).map { _ in Self.source(&random, depth: 0) }) }
    }

    static func source(_ random: inout Random, depth: Int) -> CitySource {
        var source = CitySource(number: random.chance(8) ? nil : random.next(12), name: "n\(random.next(1000))")
        let policies: [MissingReference] = [.fail, .ignore, .ignore, .createStub, .createStub, .createStub]
        source.ifMissing = policies[random.next(policies.count)]
        // References that can fail use targets that are likely to exist.
        let reach = source.ifMissing == .fail ? 4 : 14
        if random.chance(40) { source.country = "c\(random.next(reach))" }
        if random.chance(40) { source.centre = random.next(reach) }
        if random.chance(25) { source.route = (0..<random.next(4)).map { _ in random.next(reach) } }
        if random.chance(20) {
            source.nested = CountrySource(code: random.chance(10) ? nil : "c\(random.next(8))", name: "m\(random.next(1000))")
        }
        if depth < 2, random.chance(12) { source.twin = (0...random.next(3)).map { _ in self.source(&random, depth: depth + 1) } }
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
