import PolyStoreBackend

/// A condition on the destination objects of a relationship.
final class RelatedNode: EvaluationNode {
    private let relationship: RelationshipReference
    private let quantifier: Quantifier
    private let part: EvaluationNode
    private let isKept: Bool
    private let seesOuter: Bool
    private let lookup: RelatedLookup
    /// The result for each destination, because many sources can share a destination.
    private var known: [Int64: Ternary] = [:]

    init(_ relationship: RelationshipReference, _ quantifier: Quantifier, _ predicate: QueryPredicate, _ lookup: RelatedLookup) {
        self.relationship = relationship
        self.quantifier = quantifier
        part = PredicateEvaluator.compile(predicate, lookup)
        isKept = predicate.needsRelated
        seesOuter = predicate.outerDepth > 0
        self.lookup = lookup
    }

    override func evaluate(_ id: Int64, _ record: RecordView) throws -> Ternary {
        try lookup.below(id, record, seesOuter) { try quantified(id, record) }
    }

    private func quantified(_ id: Int64, _ record: RecordView) throws -> Ternary {
        switch quantifier {
        case .one:
            return try relationship.target(in: record).flatMap(truth) ?? .unknown
        case .any:
            for target in try lookup.targets(of: id, record, relationship) where try truth(target) == .true { return .true }
            return .false
        case .all:
            for target in try lookup.targets(of: id, record, relationship) where try truth(target) ?? .true != .true { return .false }
            return .true
        }
    }

    /// - Returns: nil if the object does not exist.
    private func truth(_ id: Int64) throws -> Ternary? {
        if !seesOuter, let truth = known[id] { return truth }
        let truth = try lookup.withRecord(relationship.destination, id, isKept: isKept) { try part.evaluate(id, $0) }
        if !seesOuter, let truth {
            if known.count > 1 << 16 { known.removeAll(keepingCapacity: true) }
            known[id] = truth
        }
        return truth
    }
}
