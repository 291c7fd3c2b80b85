import PolyStore
import Synchronization

@propertyWrapper
struct Clamped<Value> {
    var wrappedValue: Value
}

@globalActor
actor Background {
    static let shared = Background()
}

struct Token: ~Copyable {}

@Model
final class Thing {
    @MainActor var title: String = ""  // error: title belongs to no actor
    @MainActor @Relationship var next: Thing?  // error: next belongs to no actor
    @Background var size: Int = 0  // error: size cannot have @Background
    @Clamped var width: Int = 0  // error: width cannot have @Clamped
    @Clamped var height: Int  // error: height cannot have @Clamped
    @Clamped<Int> @Attribute(.indexed) var depth: Int = 0  // error: depth cannot have @Clamped<Int>

    @Transient @Clamped var cache: Int = 0
    @Transient let lock: Mutex<Int> = Mutex(0)
    @Transient var note: String?
    var token: Token { Token() }
    var description: String { "thing" }
    @MainActor var shown: String { "shown" }
    @available(*, deprecated) var old: Int = 0
    nonisolated var count: Int = 0
    private(set) var code: Int = 0
}

func use(_ thing: Thing) { thing.count += 1 }
