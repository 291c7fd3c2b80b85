import PolyStoreBackend

/// The values of an expression for the destinations of a relationship.
///
/// A value that depends on the destination alone and that needs further related objects, such as `notes.@count` in `project.notes.@count`, is computed once
/// for each destination, however many rows lead to it.
final class TargetValues {
    private let destination: Entity
    private let inner: ExpressionNode
    private let isKept: Bool
    private let lookup: RelatedLookup
    /// A Boolean value that indicates whether the expression refers to an enclosing object.
    let seesOuter: Bool
    /// The values of destinations that rows can share, if they are worth keeping.
    private let values: TargetMemo<Value>?
    private let lists: TargetMemo<[Value]>?
    /// The number of destinations after which no more values are kept if no two rows have shared one of them. Among rows in random order that share up to 100,000
    /// destinations, two of so many do.
    private static let mostUnused = 2048

    init(_ relationship: RelationshipReference, _ inner: QueryExpression, _ lookup: RelatedLookup) {
        destination = relationship.destination
        self.inner = .make(inner, lookup)
        isKept = inner.needsRelated
        seesOuter = inner.outerDepth > 0
        let remembers = isKept && !seesOuter && relationship.sharesDestinations
        values = remembers ? TargetMemo(mostUnused: Self.mostUnused) : nil
        lists = remembers ? TargetMemo(mostUnused: Self.mostUnused) : nil
        self.lookup = lookup
    }

    /// Returns the value for a destination; null if the object does not exist.
    func value(_ target: Int64) throws -> Value {
        if let value = values?[target] { return value }
        let value = try lookup.withRecord(destination, target, isKept: isKept) { try inner.value(target, $0) } ?? .null
        values?.keep(value, for: target, weight: value.weight)
        return value
    }

    /// Returns the values that a collection aggregate of a destination covers.
    func members(_ target: Int64) throws -> [Value] {
        if let members = lists?[target] { return members }
        let members = try lookup.withRecord(destination, target, isKept: isKept) { try inner.members(target, $0) } ?? []
        lists?.keep(members, for: target, weight: members.reduce(1) { $0 + $1.weight })
        return members
    }
}

extension RelationshipReference {
    /// A Boolean value that indicates whether several objects can have the same destination.
    var sharesDestinations: Bool {
        if case .inverse = relationship.storage { false } else { true }
    }
}

extension Value {
    /// The weight in a ``TargetMemo``: 1, plus 1 for each 16 bytes of a text or data.
    fileprivate var weight: Int {
        switch self {
        case .null, .integer, .real: 1
        case .text(let text): 1 + text.utf8.count / 16
        case .blob(let bytes): 1 + bytes.count / 16
        }
    }
}
