import PolyStoreBackend

/// A condition on the destination objects of a relationship.
final class RelatedNode: EvaluationNode {
    private let relationship: RelationshipReference
    private let quantifier: Quantifier
    private let truths: TargetTruths
    private let lookup: RelatedLookup

    init(_ relationship: RelationshipReference, _ quantifier: Quantifier, _ predicate: QueryPredicate, _ lookup: RelatedLookup) {
        self.relationship = relationship
        self.quantifier = quantifier
        truths = TargetTruths(relationship, predicate, lookup, remembers: true)
        self.lookup = lookup
    }

    override func evaluate(_ id: Int64, _ record: RecordView) throws -> Ternary {
        try lookup.below(id, record, truths.seesOuter) { try quantified(id, record) }
    }

    private func quantified(_ id: Int64, _ record: RecordView) throws -> Ternary {
        switch quantifier {
        case .one:
            return try relationship.target(in: record).flatMap(truths.truth) ?? .unknown
        case .any:
            for target in try lookup.targets(of: id, record, relationship) where try truths.truth(target) == .true { return .true }
            return .false
        case .all:
            for target in try lookup.targets(of: id, record, relationship) where try truths.truth(target) ?? .true != .true {
                return .false
            }
            return .true
        }
    }
}

/// The truth of a condition for the destinations of a relationship.
final class TargetTruths {
    private let destination: Entity
    private let part: EvaluationNode
    private let isKept: Bool
    private let lookup: RelatedLookup
    /// A Boolean value that indicates whether the condition refers to an enclosing object.
    let seesOuter: Bool
    private let known: TargetMemo<Ternary>?

    /// - Parameter remembers: Whether the result for a destination is kept, because many rows can share a destination. It is not kept if the condition refers to
    ///   an enclosing object.
    init(_ relationship: RelationshipReference, _ predicate: QueryPredicate, _ lookup: RelatedLookup, remembers: Bool) {
        destination = relationship.destination
        part = PredicateEvaluator.compile(predicate, lookup)
        isKept = predicate.needsRelated
        seesOuter = predicate.outerDepth > 0
        known = remembers && !seesOuter ? TargetMemo() : nil
        self.lookup = lookup
    }

    /// - Returns: nil if the object does not exist.
    func truth(_ id: Int64) throws -> Ternary? {
        if let truth = known?[id] { return truth }
        let truth = try lookup.withRecord(destination, id, isKept: isKept) { try part.evaluate(id, $0) }
        if let truth { known?.keep(truth, for: id) }
        return truth
    }
}
