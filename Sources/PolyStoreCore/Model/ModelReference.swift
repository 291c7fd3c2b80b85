/// The type of a relationship property: `T?`, `Set<T>` or `[T]`, where `T` is a model.
public protocol ModelReference {}
extension Optional: ModelReference where Wrapped: Model {}
extension Set: ModelReference where Element: Model {}
extension Array: ModelReference where Element: Model {}
