import PolyStoreBackend

/// A condition on the objects of a model.
///
///     Where(\.age > 30 && \.name == "Jane")
///     Where<Person>(true)
///
/// Built from key paths by the operators of this module; `&&`, `||` and `!` combine. Comparing with an empty value is never true, except
/// `== nil` and `!= nil`, which ask for just that; see `docs/semantics.md`.
public struct Where<T: Model>: Sendable, FetchClause {
    let predicate: QueryPredicate
    /// Why it cannot be used; thrown by the fetch.
    let error: StoreError?

    init(_ predicate: QueryPredicate, error: StoreError? = nil) {
        self.predicate = predicate
        self.error = error
    }

    /// Resolves a key path, and keeps the reason where it cannot.
    init(_ path: PartialKeyPath<T>, _ make: (FieldReference) -> QueryPredicate) {
        do {
            self.init(make(try T._$properties.field(path)))
        } catch {
            self.init(.none, error: error as? StoreError ?? StoreError(.invalidPredicate, "\(error)"))
        }
    }

    public init(_ condition: Where<T>) { self = condition }

    /// All objects, or none.
    public init(_ value: Bool) { self.init(.constant(value)) }

    public static func && (left: Where<T>, right: Where<T>) -> Where<T> {
        Where(.and([left.predicate, right.predicate]), error: left.error ?? right.error)
    }

    public static func || (left: Where<T>, right: Where<T>) -> Where<T> {
        Where(.or([left.predicate, right.predicate]), error: left.error ?? right.error)
    }

    public static prefix func ! (condition: Where<T>) -> Where<T> { Where(.not(condition.predicate), error: condition.error) }

    public func apply(to chain: inout FetchChain<T>) { chain = chain.where(self) }
}
