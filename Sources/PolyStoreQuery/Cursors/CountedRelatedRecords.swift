import PolyStoreBackend
import PolyStoreSearch

/// A source of related objects that counts the rows read from it, for `QueryPlan.relatedRowsExamined`.
public final class CountedRelatedRecords: RelatedRecords {
    private let source: any RelatedRecords
    /// The number of records and of row ids of related objects read so far.
    public private(set) var count = 0

    /// Creates a source that reads from another one.
    public init(_ source: any RelatedRecords) { self.source = source }

    public var interruption: Interruption? {
        get { source.interruption }
        set { source.interruption = newValue }
    }

    public func record(_ entity: Entity, rowID: Int64) throws -> RecordView? {
        let record = try source.record(entity, rowID: rowID)
        if record != nil { count += 1 }
        return record
    }

    public func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs {
        let found = try source.related(relationship, of: sources)
        for id in sources { count += found[id].count }
        return found
    }
}

extension CountedRelatedRecords: SearchStatisticsSource {
    package func statistics(of condition: SearchCondition) throws -> SearchStatistics { try source.countedStatistics(of: condition) }
}
