import PolyStoreBackend
import PolyStoreSearch

/// Related records that know the statistics of full-text searches, for scores. A transaction needs no conformance.
package protocol SearchStatisticsSource: RelatedRecords {
    /// Returns the statistics of a full-text search.
    func statistics(of condition: SearchCondition) throws -> SearchStatistics
}

extension RelatedRecords {
    /// Returns the statistics of a full-text search.
    /// - Throws: `misuse` if the source is neither a transaction nor reads from one.
    func countedStatistics(of condition: SearchCondition) throws -> SearchStatistics {
        switch self {
        case let transaction as any ReadTransaction: return try transaction.statistics(of: condition)
        case let source as any SearchStatisticsSource: return try source.statistics(of: condition)
        default: throw StoreError(.misuse, "The score of \(condition) needs a transaction to count documents in.")
        }
    }
}

/// The access of evaluation nodes to related and enclosing objects.
final class RelatedLookup {
    private let source: (any RelatedRecords)?
    /// The enclosing objects; the nearest is last. Maintained only if a node refers to one of them.
    private var frames: [(id: Int64, record: RecordView)] = []

    /// Checked while related objects are read.
    private let interruption: Interruption?
    /// The number of records and row ids of related objects read since the last check.
    private var unchecked = 0

    init(_ source: (any RelatedRecords)?) {
        self.source = source
        interruption = source?.interruption
    }

    /// Called for related objects that were read. Throws an error if the request was interrupted.
    private func didRead(_ count: Int) throws {
        guard let interruption else { return }
        unchecked += count
        guard unchecked >= 1000 else { return }
        unchecked = 0
        try interruption.check()
    }

    /// Returns the statistics of a full-text search.
    func statistics(of condition: SearchCondition) throws -> SearchStatistics {
        if let statistics = condition.statistics { return statistics }
        guard let source else { throw StoreError(.misuse, "The score of \(condition) needs a transaction to count documents in.") }
        return try source.countedStatistics(of: condition)
    }

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
        if relationship.isToMany {
            let targets = try found().related(relationship.relationship, of: [id])[id]
            try didRead(targets.count)
            return targets
        }
        return relationship.target(in: record).map { [$0] } ?? []
    }

    /// Calls `body` with a record.
    /// - Parameter isKept: whether `body` looks up other records, which would invalidate this one. It then receives a copy.
    /// - Returns: nil if the object does not exist.
    func withRecord<R>(_ entity: Entity, _ id: Int64, isKept: Bool, _ body: (RecordView) throws -> R) throws -> R? {
        try didRead(1)
        guard let record = try found().record(entity, rowID: id) else { return nil }
        guard isKept else { return try body(record) }
        let copy = RecordArena(capacity: record.count)
        _ = copy.append(record.bytes)
        return try withExtendedLifetime(copy) { try body(copy.view(0, record.count, entity.layout)) }
    }
}
