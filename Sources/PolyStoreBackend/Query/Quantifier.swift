/// A quantifier over the destination objects of a relationship.
public enum Quantifier: String, Sendable, Hashable, CaseIterable {
    /// The destination of a to-one relationship. Unknown if the relationship is null or the condition is unknown.
    case one = "ONE"
    /// At least one object; false for an empty relationship. Never unknown.
    case any = "ANY"
    /// Every object; true for an empty relationship. Never unknown.
    case all = "ALL"
}
