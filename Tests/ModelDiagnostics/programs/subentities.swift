import PolyStore

final class Plain {}

@Model
final class Other {
    var count: Int = 0
}

@Model(
    subentities: "Dog",
    "Stranger",  // error: cannot find 'Stranger' in scope
    "Plain",  // error: a class among the subentities must inherit from this class
    "Other",  // error: a class among the subentities must inherit from this class
    "Sibling",  // error: a class among the subentities must inherit from this class
    "Namespace.Nothing"  // error: has no member 'Nothing'
)
class Animal {
    var name: String = ""
}

@Model
final class Dog: Animal {
    var isGood: Bool = true
}

@Model(
    subentities: "Sibling",
    "Own"  // error: Own lists itself
)
class Own {
    var name: String = ""
}

@Model
final class Sibling: Own {
    var age: Int = 0
}

enum Namespace {}

/// A class between a model and its superclass that is not a model.
class Between: Animal {}

@Model
final class Below: Between {  // error: has no member '_$paths_Between'
    var age: Int = 0
}
