/// A default of an attribute that is not a constant: an expression that gives each object a value of its own.
public enum DefaultExpression: String, Sendable, Hashable, CaseIterable {
    /// A random UUID: `= UUID()`.
    case uuid
    /// The current time: `= Date()`.
    case date
    /// Any other expression. Only the class that declares the attribute can evaluate it.
    case computed
}

/// The evaluation of a default expression by the class that declares it. It is not part of the value of a description: all are equal, and none is stored.
package struct DefaultEvaluation: Sendable, Hashable {
    /// Returns a new value of the expression; `nil` without a class.
    package let evaluate: (@Sendable () -> Value?)?

    package init(_ evaluate: (@Sendable () -> Value?)? = nil) { self.evaluate = evaluate }

    package static func == (left: DefaultEvaluation, right: DefaultEvaluation) -> Bool { true }
    package func hash(into hasher: inout Hasher) {}
}
