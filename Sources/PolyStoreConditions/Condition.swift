import PolyStoreBackend

/// An unresolved condition: names are not looked up yet, and constants do not have the type of the value they are compared with.
///
/// Format strings (``init(format:arguments:variables:)``), keys, dictionaries, key paths of more than one step and Foundation's predicates are
/// all converted to this type. ``resolved(for:in:)`` looks up the names, converts the constants and returns the form that stores evaluate. The
/// semantics of each operator are in `docs/query-language.md`.
package indirect enum Condition: Sendable, Hashable {
    case constant(Bool)
    case comparison(Comparison)
    case and([Condition])
    case or([Condition])
    case not(Condition)
    /// A condition that is already resolved, from key paths. Its fields belong to the fetched entity.
    case resolved(QueryPredicate)
}
