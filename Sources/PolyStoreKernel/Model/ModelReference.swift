/// The type of a relationship property: `T?`, `Set<T>` or `[T]`, where `T` is a model.
public protocol ModelReference {
    /// The class of the objects at the other end.
    associatedtype ReferencedModel: Model
}
extension Optional: ModelReference where Wrapped: Model {
    /// The class of the object at the other end.
    public typealias ReferencedModel = Wrapped
}
extension Set: ModelReference where Element: Model {
    /// The class of the objects at the other end.
    public typealias ReferencedModel = Element
}
extension Array: ModelReference where Element: Model {
    /// The class of the objects at the other end.
    public typealias ReferencedModel = Element
}
