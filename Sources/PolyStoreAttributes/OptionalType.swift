/// An optional type, for values and types that are known at run time only.
package protocol OptionalType {
    /// The type of the values that are not nil.
    static var wrapped: Any.Type { get }
}
extension Optional: OptionalType {
    package static var wrapped: Any.Type { Wrapped.self }
}
