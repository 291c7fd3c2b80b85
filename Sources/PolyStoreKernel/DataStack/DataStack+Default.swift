import PolyStoreBackend

extension DataStack {
    private static let shared = Protected<DataStack?>(nil)

    /// The shared stack of a program that needs only one. Set it once at launch.
    ///
    ///     DataStack.default = try DataStack(Person.self, Department.self)
    ///     try DataStack.default.addStore(.sqlite())
    ///
    /// The framework uses it only to decode an ``ObjectID`` without an explicit stack. Reading it before it is set is a programming error and
    /// terminates the program.
    public static var `default`: DataStack {
        get {
            guard let stack = shared.withLock({ $0 }) else {
                preconditionFailure(
                    "DataStack.default was read before it was set. Set it where the program begins: DataStack.default = try DataStack(…).")
            }
            return stack
        }
        set { shared.exchange(newValue) }
    }

    /// The default stack, or nil if it is not set.
    static var defaultIfSet: DataStack? { shared.withLock { $0 } }
}
