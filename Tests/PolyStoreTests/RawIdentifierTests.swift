import Foundation
import PolyStore
import TestSupport
import Testing

@Model
final class `My Person` {
    var `first name`: String = ""
    @Attribute(.indexed) var `1st`: Int = 0
    var `a.b?`: String?
    var `Type`: String = ""
    var `Protocol`: Int?
    var `e-mails`: [String] = []
    @Relationship(inverse: "my friends") var `my friends`: Set<`My Person`>
    @Relationship var `boss of all`: `My Person`?
    @Relationship(inverse: "boss of all") var `all below`: [`My Person`]
    @Relationship(inverse: "home town") var `town of birth`: `A Town`?

    #Index<`My Person`>(\.`first name`, \.`1st`)
}

@Model
final class `A Town` {
    @Attribute(.unique, name: "the_name") var `the name`: String
    @Relationship var `home town`: Set<`My Person`>
}

@Model(subentities: "A Dog", "`A.Cat`")
class `An Animal` {
    var `given name`: String = ""
}

@Model
final class `A Dog`: `An Animal` {
    var `is good`: Bool = true
    @Relationship var `best friend`: `An Animal`?
}

@Model
final class `A.Cat`: `An Animal` {
    var `number of lives`: Int = 9
}

/// Classes and properties whose names are raw identifiers, and properties named like metatypes.
@Suite struct RawIdentifierTests {
    private static let schema = Schema("Raw", `My Person`.self, `A Town`.self, `An Animal`.self)

    @Test(arguments: Backend.allCases)
    func anyNameCanBeStoredAndFetched(_ backend: Backend) throws {
        let folder = try Folder()
        do {
            let stack = try DataStack(Self.schema)
            try stack.addStore(backend.store(in: folder))
            try Self.fill(stack)
            if backend == .memory { return try Self.check(stack) }
        }
        let stack = try DataStack(Self.schema)
        try stack.addStore(backend.store(in: folder))
        try Self.check(stack)
    }

    private static func fill(_ stack: DataStack) throws {
        try stack.performAndWait { transaction in
            let town = try transaction.create(Into<`A Town`>()) { $0.`the name` = "Kyoto" }
            let people = try ["Ann", "Bob", "Cid"].enumerated().map { index, name in
                try transaction.create(Into<`My Person`>()) {
                    ($0.`first name`, $0.`1st`, $0.`a.b?`) = (name, index, index == 0 ? nil : "\(index)")
                    ($0.`Type`, $0.`Protocol`) = ("type \(index)", index == 1 ? 7 : nil)
                    $0.`e-mails` = [name]
                }
            }
            people[0].`my friends` = [people[1]]
            people[0].`all below` = [people[2], people[1]]
            people[2].`town of birth` = town
            let cat = try transaction.create(Into<`A.Cat`>()) { $0.`given name` = "Tom" }
            try transaction.create(Into<`A Dog`>()) { ($0.`given name`, $0.`best friend`) = ("Rex", cat) }
        }
    }

    private static func check(_ stack: DataStack) throws {
        try stack.performAndWait { transaction throws in
            func names(_ condition: Where<`My Person`>) throws -> String {
                String(
                    try transaction.fetchAll(From<`My Person`>(), condition, OrderBy(.ascending(\.`1st`))).compactMap(\.`first name`.first))
            }
            #expect(try names(\.`first name` == "Bob") == "B")
            #expect(try names(\.`1st` >= 1) == "BC")
            #expect(try names(\.`a.b?` == nil) == "A")
            #expect(try names(\.`Type` == "type 1") == "B")
            #expect(try names(\.`Protocol` == 7) == "B")
            #expect(try names(.any(\.`my friends`, \.`first name` == "Ann")) == "B")
            #expect(try names(\.`boss of all`?.`first name` == "Ann") == "BC")
            #expect(try names(\.`town of birth`?.`the name` == "Kyoto") == "C")
            #expect(try names(\.`all below`.count == 2) == "A")
            #expect(try names(Where("#\"first name\" == 'Cid'")) == "C")
            #expect(try names(Where("#\"boss of all\".#\"1st\" == 0")) == "BC")
            #expect(try names(Where(#Predicate<`My Person`> { $0.`first name` > "A" && $0.`boss of all`?.`1st` == 0 })) == "BC")
            let ann = try #require(try transaction.fetchOne(From<`My Person`>(), Where(\.`first name` == "Ann")))
            #expect(ann.`all below`.map(\.`first name`) == ["Cid", "Bob"])
            #expect(ann.`my friends`.map(\.`first name`) == ["Bob"] && ann.`e-mails` == ["Ann"])
            #expect(ann.objectID.entityName == "My Person")
            ann.`first name` = "Eve"
            #expect(ann.changedKeys == ["first name"])
            let ordered = try transaction.fetchAll(From<`My Person`>().orderBy(.descending(\.`a.b?`), .ascending(\.`first name`)))
            #expect(ordered.map(\.`first name`) == ["Cid", "Bob", "Eve"])
            ann.`first name` = "Ann"

            #expect(try transaction.fetchOne(From<`A Town`>(), Where("the_name == 'Kyoto'"))?.`home town`.count == 1)
            let animals = try transaction.fetchAll(From<`An Animal`>().orderBy(.ascending(\.`given name`)))
            #expect(animals.map { "\(type(of: $0)._$entityName) \($0.`given name`)" } == ["A Dog Rex", "A.Cat Tom"])
            #expect((animals.first as? `A Dog`)?.`best friend`?.`given name` == "Tom")
            #expect((animals.last as? `A.Cat`)?.`number of lives` == 9)
            #expect(try transaction.fetchCount(From<`A Dog`>().where(\.`is good` == true)) == 1)
        }
    }
}
