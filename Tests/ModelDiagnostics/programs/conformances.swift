import PolyStore

@Model
@Model  // error: Twice has @Model twice. Remove one of the two.
final class Twice {
    var count: Int = 0
    @Relationship(inverse: "next") var previous: Twice?
    @Relationship var next: Twice?
}

@Model
final class Shared: Sendable {  // error: A model class cannot be Sendable: its objects belong to one context
    var count: Int = 0
    var tags: [String] = []
    @Relationship var next: Shared?
}

@Model
final class Unchecked: @unchecked Sendable {  // error: Remove @unchecked Sendable.
    var count: Int = 0
}

protocol Crossing: Sendable {}

@Model
final class Crosser: Crossing {  // error: conformance of 'Crosser' to 'Sendable' is unavailable
    var count: Int = 0
}

protocol Named {
    var name: String { get set }
}

/// Conformances that a model can have, the one to `Model` among them.
@Model
final class Written: Named, Model {
    var name: String = ""
}

@Model
final class Printed: CustomStringConvertible, Identifiable {
    var name: String = ""
    var id: String { name }
    var description: String { name }
}

func use(_ transaction: Transaction) throws {
    try transaction.create(Into<Twice>()).count = try transaction.create(Into<Shared>()).count
    try transaction.create(Into<Written>()).name = try transaction.create(Into<Printed>()).id
}
