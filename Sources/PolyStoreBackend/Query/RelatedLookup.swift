/// Where an evaluator finds the objects that relationships lead to. Every ``ReadTransaction`` is such a place.
public protocol RelatedRecords: AnyObject {
    /// One record; nil where there is none. Valid until the next call.
    func record(_ entity: Entity, id: Int64) throws -> RecordView?
    /// The objects that a to-many relationship leads to, for many sources in one call.
    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs
}

/// What the nodes of one evaluator look other objects up through.
final class RelatedLookup {
    private let source: (any RelatedRecords)?

    init(_ source: (any RelatedRecords)?) { self.source = source }

    private func found() throws -> any RelatedRecords {
        guard let source else { throw StoreError(.misuse, "A condition on other objects needs a transaction to find them in.") }
        return source
    }

    /// The ids of the objects that a relationship of a record leads to.
    func targets(of id: Int64, _ record: RecordView, _ relationship: RelationshipReference) throws -> [Int64] {
        if relationship.isToMany { return try found().related(relationship.relationship, of: [id])[id] }
        return relationship.target(in: record).map { [$0] } ?? []
    }

    /// Hands a record out.
    /// - Parameter isKept: whether the body looks up others, which would take the record away; it then gets a copy.
    /// - Returns: nil where there is no such object.
    func withRecord<R>(_ entity: Entity, _ id: Int64, isKept: Bool, _ body: (RecordView) throws -> R) throws -> R? {
        guard let record = try found().record(entity, id: id) else { return nil }
        guard isKept else { return try body(record) }
        let copy = RecordArena(capacity: record.count)
        _ = copy.append(record.bytes)
        return try withExtendedLifetime(copy) { try body(copy.view(0, record.count, entity.layout)) }
    }
}

/// Of the objects that a relationship leads to.
final class RelatedNode: EvaluationNode {
    private let relationship: RelationshipReference
    private let quantifier: Quantifier
    private let part: EvaluationNode
    private let isKept: Bool
    private let lookup: RelatedLookup
    /// Many objects lead to few others: each is asked once.
    private var known: [Int64: Ternary] = [:]

    init(_ relationship: RelationshipReference, _ quantifier: Quantifier, _ predicate: QueryPredicate, _ lookup: RelatedLookup) {
        self.relationship = relationship
        self.quantifier = quantifier
        part = PredicateEvaluator.compile(predicate, lookup)
        isKept = predicate.needsRelated
        self.lookup = lookup
    }

    override func evaluate(_ id: Int64, _ record: RecordView) throws -> Ternary {
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

    /// - Returns: nil for an object that is not there.
    private func truth(_ id: Int64) throws -> Ternary? {
        if let truth = known[id] { return truth }
        let truth = try lookup.withRecord(relationship.destination, id, isKept: isKept) { try part.evaluate(id, $0) }
        if let truth {
            if known.count > 1 << 16 { known.removeAll(keepingCapacity: true) }
            known[id] = truth
        }
        return truth
    }
}
