/// A source of related objects. Every ``ReadTransaction`` conforms.
public protocol RelatedRecords: AnyObject {
    /// Returns a record, or nil if it does not exist. The record is valid until the next call.
    func record(_ entity: Entity, id: Int64) throws -> RecordView?
    /// Returns the destination ids of a to-many relationship for many sources.
    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs
}

/// The access of evaluation nodes to related and enclosing objects.
final class RelatedLookup {
    private let source: (any RelatedRecords)?
    /// The enclosing objects; the nearest is last. Maintained only if a node refers to one of them.
    private var frames: [(id: Int64, record: RecordView)] = []

    init(_ source: (any RelatedRecords)?) { self.source = source }

    private func found() throws -> any RelatedRecords {
        guard let source else { throw StoreError(.misuse, "A condition on other objects needs a transaction to find them in.") }
        return source
    }

    /// Runs `body` for a related object.
    /// - Parameters:
    ///   - record: the record of the related object. It stays valid in `body`, because nodes that look up other objects receive copies.
    ///   - seesOuter: whether `body` refers to an enclosing object.
    func below<R>(_ id: Int64, _ record: RecordView, _ seesOuter: Bool, _ body: () throws -> R) throws -> R {
        guard seesOuter else { return try body() }
        frames.append((id, record))
        defer { frames.removeLast() }
        return try body()
    }

    /// Returns the enclosing object `levels` levels out.
    func outer(_ levels: Int) -> (id: Int64, record: RecordView)? { levels <= frames.count ? frames[frames.count - levels] : nil }

    /// Returns the destination ids of a relationship of a record.
    func targets(of id: Int64, _ record: RecordView, _ relationship: RelationshipReference) throws -> [Int64] {
        if relationship.isToMany { return try found().related(relationship.relationship, of: [id])[id] }
        return relationship.target(in: record).map { [$0] } ?? []
    }

    /// Calls `body` with a record.
    /// - Parameter isKept: whether `body` looks up other records, which would invalidate this one. It then receives a copy.
    /// - Returns: nil if the object does not exist.
    func withRecord<R>(_ entity: Entity, _ id: Int64, isKept: Bool, _ body: (RecordView) throws -> R) throws -> R? {
        guard let record = try found().record(entity, id: id) else { return nil }
        guard isKept else { return try body(record) }
        let copy = RecordArena(capacity: record.count)
        _ = copy.append(record.bytes)
        return try withExtendedLifetime(copy) { try body(copy.view(0, record.count, entity.layout)) }
    }
}

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
