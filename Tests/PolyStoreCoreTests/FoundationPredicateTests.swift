import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// `#Predicate`, compared with its evaluation by Foundation on the fetched objects.
@Suite struct FoundationPredicateTests {
    private static func ranges(_ range: ClosedRange<Int>, _ open: PartialRangeFrom<Int>) -> Predicate<Person> {
        #Predicate { range.contains($0.age) || open.contains($0.age) }
    }

    // Computed, so that the compiler checks these expressions once: the initial value of a stored property is checked for the module too.
    private static var people: [(String, Predicate<Person>)] {
        [
            ("?? under NOT", #Predicate { !(($0.nickname ?? "none") == "none") }),
            ("?? of a number under NOT", #Predicate { !(($0.spouse?.age ?? 0) > 20) }),
            ("?? of a condition", #Predicate { $0.nickname?.contains("n") ?? false }),
            ("?? of a condition under NOT", #Predicate { !($0.nickname?.contains("n") ?? false) }),
            ("?? true of a condition", #Predicate { $0.nickname?.starts(with: "a") ?? true }),
            ("?? of ??", #Predicate { ($0.nickname ?? ($0.department.flatMap { $0.title } ?? "none")) == "none" }),
            ("?? of ?? under NOT", #Predicate { !(($0.nickname ?? ($0.department.flatMap { $0.title } ?? "none")) == "Research") }),
            ("?? of a path", #Predicate { ($0.nickname ?? $0.email) == $0.email }),
            ("?? on both sides", #Predicate { ($0.nickname ?? "x") == ($0.department?.title ?? "x") }),
            ("?? in arithmetic", #Predicate { ($0.spouse?.age ?? 100) + 1 > $0.age * 2 }),
            ("?? in a range", #Predicate { (10...45).contains($0.spouse.flatMap { $0.age } ?? 100) }),
            ("?? in a range under NOT", #Predicate { !(10...45).contains($0.spouse.flatMap { $0.age } ?? 100) }),
            ("?? in a list", #Predicate { !["anna", "none"].contains($0.nickname ?? "none") }),
            ("?? in contains where", #Predicate { $0.friends.contains { !(($0.nickname ?? "anna") == "anna") } }),
            ("?? in allSatisfy", #Predicate { $0.friends.allSatisfy { !(($0.nickname ?? "anna") == "ANNABEL") } }),
            ("?? in filter", #Predicate { $0.friends.filter { !(($0.spouse?.age ?? 0) > 20) }.count == 1 }),
            ("filter is empty", #Predicate { $0.friends.filter { ($0.nickname ?? "") == "anna" }.isEmpty }),
            ("ternary", #Predicate { $0.age > 20 ? $0.email.contains("4") : ($0.nickname ?? "") == "anna" }),
            ("ternary under NOT", #Predicate { !($0.age > 20 ? $0.email.contains("4") : ($0.nickname ?? "") == "anna") }),
            ("ternary on ??", #Predicate { !((($0.nickname ?? "none") == "none") ? $0.age > 40 : $0.age == 0) }),
            ("ternary as a value", #Predicate { ($0.age > 20 ? $0.age : 100) > 40 }),
            ("ternary as a value under NOT", #Predicate { !(($0.age > 20 ? $0.age + 1 : 100) > 40) }),
            ("ternary as a text", #Predicate { ($0.age > 20 ? $0.email : ($0.nickname ?? "none")).contains("n") }),
            ("ternary in allSatisfy", #Predicate { $0.friends.allSatisfy { ($0.age > 10 ? $0.age : 0) < 25 } }),
            ("if in filter", #Predicate { $0.friends.filter { if $0.age > 10 { $0.age > 20 } else { false } }.count > 0 }),
            ("conditions compared", #Predicate { ($0.age > 20) == $0.email.contains("4") }),
            ("conditions compared, not equal", #Predicate { ($0.age > 20) != ($0.age < 50) }),
            ("condition compared with a constant", #Predicate { ($0.age > 20) == false }),
            ("count", #Predicate { $0.friends.count > 1 }),
            ("is empty under NOT", #Predicate { !$0.friends.isEmpty }),
            ("is empty compared", #Predicate { $0.friends.isEmpty == ($0.age > 30) }),
            ("text is empty", #Predicate { ($0.nickname ?? "").isEmpty }),
            ("text is not empty", #Predicate { !($0.nickname ?? "").isEmpty }),
            ("count of a text", #Predicate { $0.email.count > 14 }),
            ("count of a missing text", #Predicate { ($0.nickname?.count ?? 0) > 3 }),
            ("count of a missing text under NOT", #Predicate { !(($0.nickname ?? "").count > 4) }),
            ("count of a text of others", #Predicate { $0.friends.contains { friend in friend.age > 3 && friend.email.count > 3 } }),
            ("remainder", #Predicate { $0.age % 20 == 0 }),
            ("remainder of a missing number", #Predicate { ($0.spouse?.age ?? 7) % 4 == 3 }),
            ("flatMap to a condition", #Predicate { $0.nickname.flatMap { $0.contains("n") } ?? false }),
            ("flatMap to a value", #Predicate { ($0.spouse.flatMap { $0.age + 1 } ?? 0) > 30 }),
            ("flatMap of flatMap", #Predicate { ($0.spouse.flatMap { $0.nickname.flatMap { $0.count } } ?? 0) > 3 }),
            ("if let", #Predicate { if let nickname = $0.nickname { nickname.contains("n") } else { false } }),
            ("if let of an object", #Predicate { if let spouse = $0.spouse { spouse.age > 20 } else { true } }),
            ("if let of a text's count", #Predicate { if let nickname = $0.nickname { nickname.count > 3 } else { $0.age > 30 } }),
            ("outer object", #Predicate { person in person.friends.contains { $0.age > person.age } }),
            ("outer object, all", #Predicate { person in person.friends.allSatisfy { $0.age > person.age } }),
            (
                "outer object, two levels",
                #Predicate { person in person.friends.contains { friend in friend.friends.contains { $0.age > person.age } } }
            ),
            (
                "outer object's friends",
                #Predicate { person in person.friends.contains { friend in person.friends.contains { $0.age > friend.age } } }
            ),
            ("outer object's count", #Predicate { person in person.friends.filter { $0.friends.count < person.friends.count }.count > 0 }),
            ("negative", #Predicate { -($0.spouse?.age ?? 1) < -10 }),
            ("chained, compared with nil", #Predicate { $0.spouse?.age == nil }),
            ("chained, not nil", #Predicate { $0.department?.title != nil }),
            ("chained condition is true", #Predicate { $0.nickname?.contains("n") == true }),
            ("captured ranges", ranges(20...30, 45...)),
            ("constant", #Predicate { _ in true }),
            ("and, or, not", #Predicate { !($0.age > 10 && ($0.nickname ?? "") == "ANNABEL") || $0.age == 20 }),
        ]
    }

    @Test(arguments: Backend.forObjectLayer)
    func predicatesSelectTheSameObjectsAsSwift(_ backend: Backend) throws {
        let company = try Company.staffed(backend) { people in
            people[5].spouse = people[4]
            people[1].spouse = people[2]
            (people[0].nickname, people[1].nickname, people[2].nickname) = ("Ångström", "anna", "ANNABEL")
        }
        try company.stack.readAndWait { context throws in
            let all = try context.fetchAll(From<Person>(), OrderBy(.ascending(\.age)))
            for (name, predicate) in Self.people {
                let expected = try all.filter { try predicate.evaluate($0) }.map(\.age)
                #expect(
                    try context.fetchAll(From<Person>(), Where(predicate), OrderBy(.ascending(\.age))).map(\.age) == expected, "\(name)")
                // A comparison with a missing value is unknown, and so is its negation.
                if name == "chained condition is true" { continue }
                let others = all.map(\.age).filter { !expected.contains($0) }
                #expect(
                    try context.fetchAll(From<Person>(), !Where(predicate), OrderBy(.ascending(\.age))).map(\.age) == others, "not \(name)")
            }
        }
    }

    private static var gadgets: [(String, Predicate<Gadget>)] {
        [
            ("condition == property", #Predicate { ($0.level > 3) == $0.isOn }),
            ("condition != property", #Predicate { ($0.level > 3) != $0.isOn }),
            ("property == condition", #Predicate { $0.isOn == ($0.level > 3) }),
            ("property == property", #Predicate { $0.isOn == $0.part!.isOn }),
            ("not property", #Predicate { !$0.isOn }),
            ("ternary on a property", #Predicate { ($0.isOn ? $0.level : 0) > 3 }),
            ("ternary of properties", #Predicate { $0.isOn ? $0.level > 3 : $0.part!.isOn }),
            ("?? of a truth value", #Predicate { !($0.part?.isOn ?? false) }),
            ("?? true of a truth value", #Predicate { $0.part?.isOn ?? true }),
            ("?? of a condition instead", #Predicate { $0.part?.isOn ?? ($0.level > 3) }),
            ("bonus", #Predicate { !(($0.bonus ?? 0) > 3) }),
            ("bonus twice", #Predicate { ($0.bonus ?? ($0.part.flatMap { $0.bonus } ?? 7)) == 7 }),
        ]
    }

    @Test(arguments: Backend.forObjectLayer)
    func truthValuesAreValues(_ backend: Backend) throws {
        let gadgets = try Gadgets(backend)
        try gadgets.stack.performAndWait { transaction throws in
            var made: [Gadget] = []
            for number in 0..<12 {
                let gadget = try transaction.create(Into<Gadget>())
                (gadget.level, gadget.isOn) = (Int8(number), number % 3 == 0)
                if number % 2 == 0 { gadget.bonus = number }
                made.append(gadget)
            }
            for (index, gadget) in made.enumerated() { gadget.part = made[(index * 5 + 1) % 12] }
        }
        try gadgets.stack.performAndWait { transaction throws in
            for leadsNowhere in [false, true] {
                let all = try transaction.fetchAll(From<Gadget>(), OrderBy(.ascending(\.level)))
                if leadsNowhere { for gadget in all where gadget.level > 8 { gadget.part = nil } }
                for (name, predicate) in Self.gadgets
                where !leadsNowhere || !["property == property", "ternary of properties"].contains(name) {
                    let expected = try all.filter { try predicate.evaluate($0) }.map(\.level)
                    let found = try transaction.fetchAll(From<Gadget>(), Where(predicate), OrderBy(.ascending(\.level))).map(\.level)
                    #expect(found == expected, "\(name)")
                }
            }
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func orderedRelationshipsAreCounted(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try DataStack(Schema("Music", Playlist.self, Track.self, MusicTag.self), logger: SilentLogger())
        try stack.addStore(backend.store(in: folder))
        try stack.performAndWait { transaction throws in
            for count in 0..<4 {
                let list = try transaction.create(Into<Playlist>())
                list.title = "\(count)"
                list.tracks = try (0..<count).map { _ in try transaction.create(Into<Track>()) }
            }
        }
        try stack.readAndWait { context throws in
            func titles(_ predicate: Predicate<Playlist>) throws -> [String] {
                try context.fetchAll(From<Playlist>(), Where(predicate), OrderBy(.ascending(\.title))).map(\.title)
            }
            #expect(try titles(#Predicate { $0.tracks.count > 1 }) == ["2", "3"])
            #expect(try titles(#Predicate { $0.tracks.isEmpty }) == ["0"])
            #expect(try titles(#Predicate { !$0.tracks.isEmpty && $0.tracks.count < 3 }) == ["1", "2"])
        }
    }

    private static let refused: [Predicate<Person>] = [
        #Predicate { $0.agePlusOne > 3 }
    ]

    @Test(arguments: Backend.forObjectLayer)
    func unsupportedPredicatesAreErrors(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.stack.readAndWait { context throws in
            for predicate in Self.refused { expectError(.invalidPredicate) { try context.fetchAll(From<Person>(), Where(predicate)) } }
        }
    }
}

extension Person {
    fileprivate var agePlusOne: Int { age + 1 }
}
