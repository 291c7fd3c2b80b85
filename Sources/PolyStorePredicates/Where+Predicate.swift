public import Foundation
import PolyStoreConditions
public import PolyStoreKernel

extension Where {
    /// Creates a condition from a Foundation predicate: `Where(#Predicate<Person> { $0.age > 30 && $0.department?.title == "Research" })`.
    ///
    /// The semantics are those of all other dialects: a comparison with a missing value is unknown, even where Swift evaluates it to false. `??` and
    /// `if … else` behave as in Swift. The fetch throws for expressions that a store cannot evaluate (a method, a subscript, a cast).
    public init(_ predicate: Foundation.Predicate<T>) {
        self.init(catching: {
            var translation = PredicateTranslation()
            translation.bases[predicate.variable.key] = .path(PropertyPath([]))
            return try translation.condition(predicate.expression)
        })
    }
}

extension ClauseChain {
    /// Adds a condition from a Foundation predicate, `.where(#Predicate { $0.age > 30 })`; see `Where.init(_:)`.
    @_disfavoredOverload
    public func `where`(_ predicate: Foundation.Predicate<Entity>) -> Chained { `where`(Where(predicate)) }
}
