import PolyStore

/// Names with any characters, in backticks, and the names that the compiler reads as metatypes.
@Model
final class `My Person` {
    var `first name`: String = ""
    @Attribute(.indexed) var `1st`: Int = 0
    var `a.b?`: String?
    @Relationship(inverse: "my friends") var `my friends`: Set<`My Person`>
    @Relationship var `boss of`: `My Person`?
    @Relationship(inverse: "boss of") var `all below`: [`My Person`]
    @Relationship(inverse: "first name") var wrong: Set<`My Person`>  // error: the inverse must be a relationship
    @Relationship(inverse: "last name") var missing: Set<`My Person`>  // error: has no member 'last name'
    @Relationship(inverse: "`home town`") var neighbours: Set<`My Town`>

    #Index<`My Person`>(\.`first name`, \.`1st`)
}

@Model
final class `My Town` {
    @Attribute(.unique, name: "name") var `the name`: String
    @Relationship var `home town`: `My Person`?
}

@Model
final class Meta {
    var `Type`: String = ""
    var `Protocol`: String?
    var `self`: Int = 0
    var `init`: Int = 0
    var `default`: Int = 0
    @Relationship(inverse: "self-made") var `self made`: Meta?
    @Relationship var `self-made`: Meta?
}

@Model
final class Linked {
    @Relationship(inverse: "Protocol") var `Type`: Linked?
    @Relationship var `Protocol`: Linked?
}

@Model(subentities: "A Dog", "Space.`A.Cat`")
class `An Animal` {
    var `given name`: String = ""
}

@Model
final class `A Dog`: `An Animal` {
    var `is good`: Bool = true
    @Relationship var `best friend`: `An Animal`?
}

enum Space {
    @Model
    final class `A.Cat`: `An Animal` {
        var `number of lives`: Int = 9
    }
}

func use(_ transaction: Transaction) throws {
    let person = try transaction.create(Into<`My Person`>()) { $0.`first name` = "Ann" }
    person.`my friends` = [person]
    _ = try transaction.fetchAll(From<`My Person`>().where(\.`first name` == "Ann" && \.`boss of`?.`1st` > 0).orderBy(.ascending(\.`a.b?`)))
    _ = try transaction.fetchAll(From<Meta>().where(\.`Type` == "x"))
}
