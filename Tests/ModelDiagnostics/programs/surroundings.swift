import PolyStore

struct Outer<Element> {
    @Model
    final class Inner {  // error: A model class cannot be inside the generic type Outer
        var count: Int = 0
        @Relationship var next: Inner?
    }

    struct Middle {
        @Model
        final class Innermost {  // error: A model class cannot be inside the generic type Outer
            var count: Int = 0
        }
    }
}

enum Namespace {
    @Model
    final class Item {
        var count: Int = 0
        @Relationship var next: Namespace.Item?
    }

    @Model
    private final class Hidden {  // error: A model class inside another type cannot be private
        var count: Int = 0
    }

    @Model
    fileprivate final class Internal {
        var count: Int = 0
    }
}

extension Namespace {
    @Model
    final class Extra {
        var count: Int = 0
        @Relationship(inverse: "all") var extra: Extra?
        @Relationship var all: Set<Namespace.Extra>
    }
}

@Model
private final class Global {
    var count: Int = 0
}

func use(_ transaction: Transaction) throws {
    try transaction.create(Into<Namespace.Item>()).next = nil
    try transaction.create(Into<Namespace.Extra>()).count = try transaction.fetchCount(From<Global>())
}
