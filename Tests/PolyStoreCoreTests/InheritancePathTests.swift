import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

extension Party {
    fileprivate var alias: String { name }
    fileprivate var shouted: String { name.uppercased() }
    fileprivate var trimmed: String { name.trimmingCharacters(in: .whitespaces) }
    fileprivate var named: String { name.isEmpty ? "nobody" : name }
    fileprivate var fixed: String { name == "Ann" ? name : "Ann" }
    fileprivate var known: String? { code ?? "" }
    fileprivate var backer: Party { sponsor ?? self }
    fileprivate var otherSponsor: Party? { sponsor }
    fileprivate var backerName: String { sponsor?.name ?? "" }
}

extension Human {
    fileprivate var years: Int { abs(age) }
    fileprivate var months: Int { age * 12 }
    fileprivate var exactAge: Int { age }
}

/// Key paths of several steps over a hierarchy. Evaluating them determines their stored properties.
@Suite struct InheritancePathTests {
    private static let parties: [(path: String, condition: Where<Visit>, days: [Int])] = [
        ("party.name", \.party?.name == "Ann", [1]), ("party.code", \.party?.code == "a", [1]),
        ("party.code, unwrapped", \.party?.code! == "a", [1]), ("party.code is null", \.party?.code == nil, [2, 3]),
        ("party.sponsor", \.party?.sponsor == nil, [1]),
        ("party.sponsor.name", \.party?.sponsor?.name == "Ann", [2]),
        ("party.sponsor.sponsor.name", \.party?.sponsor?.sponsor?.name == "Ann", [3]),
        // A computed property that always returns the value of a stored property is treated as that property.
        ("party.alias", \.party?.alias == "Ann", [1]), ("party.sponsor, called otherwise", \.party?.otherSponsor?.name == "Ann", [2]),
    ]

    @Test(arguments: Backend.forObjectLayer)
    func storedPropertiesAreFound(_ backend: Backend) throws {
        try Parties(backend).read { context throws in
            for (path, condition, days) in Self.parties {
                let found = try context.fetchAll(From<Visit>().where(condition).orderBy(.ascending(\.day))).map(\.day)
                #expect(found == days, "\(path)")
            }
            #expect(try context.fetchAll(From<Worker>().where(\.boss?.age == 50)).names == ["Bob"])
            #expect(try context.fetchAll(From<Worker>().where(\.boss?.exactAge == 50)).names == ["Bob"])
            #expect(try context.fetchAll(From<Firm>().where(\.director?.name == "Ann")).names == ["Acme"])
            #expect(try context.fetchAll(From<Firm>().where(\.director!.age == 50)).names == ["Zeta"])
        }
    }

    private static let visits: [(path: String, condition: Where<Visit>)] = [
        ("shouted", \.party?.shouted == "ANN"), ("trimmed", \.party?.trimmed == "Ann"), ("named", \.party?.named == "Ann"),
        ("fixed", \.party?.fixed == "Ann"), ("known", \.party?.known == "a"), ("backer.name", \.party?.backer.name == "Ann"),
        ("backerName", \.party?.backerName == "Ann"), ("sponsor.shouted", \.party?.sponsor?.shouted == "ANN"),
    ]
    private static let workers: [(path: String, condition: Where<Worker>)] = [
        ("years", \.boss?.years == 50), ("months", \.boss?.months == 600), ("name.count", \.boss?.name.count == 2),
    ]

    @Test(arguments: Backend.forObjectLayer)
    func computedPropertiesAreRefused(_ backend: Backend) throws {
        try Parties(backend).read { context throws in
            for (path, condition) in Self.visits {
                let error = expectError(.invalidPredicate) { try context.fetchAll(From<Visit>().where(condition)) }
                #expect(error?.message.contains("is not a stored property of Visit.party") == true, "\(path): \(String(describing: error))")
            }
            for (path, condition) in Self.workers {
                let error = expectError(.invalidPredicate) { try context.fetchAll(From<Worker>().where(condition)) }
                #expect(error?.message.contains("cannot be used in a query") == true, "\(path): \(String(describing: error))")
            }
            expectError(.invalidPredicate) { try context.fetchAll(From<Visit>().orderBy(.ascending(\.party?.shouted))) }
        }
    }
}
