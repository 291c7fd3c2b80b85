import PolyStore
import TestSupport
import Testing

class Counter {
    var count = 0
    var step: Int?
    init() {}
}

class NamedCounter: Counter {
    var label: String { "\(count)" }
}

class Greeter {
    var greeting: String { "Hello" }
    static let version = 1
}

@Model
final class Tally: Counter {
    var title: String = ""
}

@Model(subentities: "Thermometer")
class Gauge: NamedCounter {
    var title: String = ""
}

@Model
final class Thermometer: Gauge {
    var degrees: Double = 0
}

@Model
final class Waiter: Greeter {
    var name: String = ""
}

/// Superclasses that are not models.
@Suite struct SuperclassTests {
    static let refused: [(Schema, String)] = [
        (
            Schema("1", Tally.self),
            "Tally inherits from Counter, which is not a model and stores count, step: no store would contain these values. "
                + "Mark Counter with @Model(subentities: \"Tally\"), or declare the properties in Tally."
        ),
        (Schema("2", Thermometer.self, Waiter.self), "Gauge inherits from Counter, which is not a model and stores count, step"),
        (Schema("3", [Waiter.self], configurations: ["Other": [Tally.self]]), "Tally inherits from Counter"),
    ]

    @Test(arguments: refused) func storedPropertiesOfASuperclassThatIsNoModelAreRefused(_ schema: Schema, _ message: String) throws {
        let error = try requireFailure { _ = try DataStack(schema) }
        #expect(error.code == .invalidSchema && error.attribute == "count")
        #expect(error.message.contains(message), "\(error)")
    }

    @Test(arguments: Backend.forObjectLayer)
    func aSuperclassWithoutStoredPropertiesIsAccepted(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try DataStack(Schema("Hosts", Waiter.self))
        try stack.addStore(backend.store(in: folder))
        let id = try stack.performAndWait { transaction in try transaction.create(Waiter.self) { $0.name = "Ann" } }
        let text = try stack.readAndWait { context in try context.fetchExisting(id).map { "\($0.greeting), \($0.name)" } }
        #expect(text == "Hello, Ann")
    }
}
