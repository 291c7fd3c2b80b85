import PolyStoreBackend
import PolyStoreSearch

/// A source of related objects that reads those of many rows together from a server.
///
/// The evaluation of a row requests the list of one object, or one record. The first such request of a block of rows also reads the lists or records that the
/// other rows of the block lead to. No other kind of data is read in advance. A read for several objects that fails is repeated for the
/// one object, so that only an error of a necessary read is thrown.
final class RelatedAhead: SearchStatisticsSource {
    private let source: any RelatedRecords
    private let server: ServerSnapshot
    private let first: RelatedLevel
    /// The steps by the relationship, and those by the index of the destination entity.
    private var byRelationship: [Relationship: [RelatedStep]] = [:]
    private var byDestination: [Int: [RelatedStep]] = [:]

    /// The largest number of records to read with one scan.
    private var mostRecords = RelatedStep.mostMembers / 4

    init(_ source: any RelatedRecords, _ server: ServerSnapshot, _ walk: RelatedWalk) {
        (self.source, self.server, first) = (source, server, walk.first)
        for step in first.all {
            if step.relationship.isToMany { byRelationship[step.relationship.relationship, default: []].append(step) }
            byDestination[step.relationship.destination.index, default: []].append(step)
        }
    }

    var interruption: Interruption? {
        get { source.interruption }
        set { source.interruption = newValue }
    }

    func statistics(of condition: SearchCondition) throws -> SearchStatistics { try source.countedStatistics(of: condition) }

    /// Begins a block of rows.
    func begin() { for step in first.steps { step.removeAll() } }

    /// Adds a row of the block.
    func add(_ id: Int64, _ record: RecordView) { for step in first.steps { step.addSource(id, record) } }

    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs {
        guard sources.count == 1, let steps = byRelationship[relationship] else { return try source.related(relationship, of: sources) }
        let id = sources[0]
        // Several steps can follow the relationship from an object, and each of them needs the list for its own targets.
        let lacking = steps.map { (step: $0, sources: $0.unread(from: id)) }.filter { $0.sources.first == id }
        guard !lacking.isEmpty else {
            if let list = steps.lazy.compactMap({ $0.lists[id] }).first { return RelatedIDs(id, list) }
            return try source.related(relationship, of: sources)
        }
        var lists: [Int64: [Int64]] = [:]
        var unread: Set<Int64> = []
        for source in lacking.lazy.flatMap(\.sources) {
            if let known = steps.lazy.compactMap({ $0.lists[source] }).first { lists[source] = known } else { unread.insert(source) }
        }
        if unread.count > 1 {
            if let found = try? source.related(relationship, of: unread.sorted()) {
                for source in unread { lists[source] = found[source] }
            } else {
                for step in steps { step.didFail(lists: unread.count) }
            }
        }
        if lists[id] == nil { lists[id] = try source.related(relationship, of: sources)[id] }
        for (step, sources) in lacking { step.add(sources.compactMap { source in lists[source].map { (source, $0) } }) }
        return RelatedIDs(id, lists[id] ?? [])
    }

    func record(_ entity: Entity, rowID: Int64) throws -> RecordView? {
        guard let steps = byDestination[entity.index] else { return try source.record(entity, rowID: rowID) }
        let server = server
        if !server.isKnown(entity, rowID: rowID) || steps.contains(where: { $0.needsExpansion(rowID) }) {
            for step in steps {
                let wanted = step.wanted(server.readsTogether ? mostRecords : 1, from: rowID) { server.isKnown(entity, rowID: $0) }
                if wanted.count > 1 {
                    do { _ = try server.readAhead(entity, rowIDs: wanted) } catch { mostRecords = max(1, wanted.count / 8) }
                }
                for target in wanted where step.needsExpansion(target) && server.isKnown(entity, rowID: target) {
                    // A pending change of the object precedes the stored record.
                    if let record = try? source.record(entity, rowID: target) { step.expand(target, record) }
                }
            }
        }
        return try source.record(entity, rowID: rowID)
    }
}

extension RelatedIDs {
    fileprivate init(_ id: Int64, _ list: [Int64]) {
        self.init()
        for target in list { add(source: id, target: target) }
    }
}

/// The rows of a cursor, read in blocks whose related objects are read together.
private final class BlockCursor: RecordCursor {
    private let source: RecordCursor
    private let related: RelatedAhead
    private let layout: RecordLayout
    private let arena = RecordArena()
    private var rows: [MaterializedCursor.Row] = []
    private var position = 0
    private var size: Int
    private var isAtEnd = false
    /// An error of the cursor after the rows of the block.
    private var error: (any Error)?

    private static let mostRows = 1000
    /// The memory after which a block ends, in bytes.
    private static let mostBytes = 1 << 20

    init(_ source: RecordCursor, _ related: RelatedAhead, _ layout: RecordLayout, firstRows: Int) {
        (self.source, self.related, self.layout) = (source, related, layout)
        size = firstRows
        super.init(layout: layout)
    }

    override func next() throws -> Bool {
        if position == rows.count { try readBlock() }
        guard position < rows.count else { return false }
        let row = rows[position]
        position += 1
        setCurrent(row.id, arena.view(row.offset, row.count, layout))
        return true
    }

    private func readBlock() throws {
        (rows, position) = ([], 0)
        arena.removeAll()
        related.begin()
        while !isAtEnd, rows.count < size, arena.count < Self.mostBytes {
            do { if try !source.next() { isAtEnd = true } } catch { (self.error, isAtEnd) = (error, true) }
            if isAtEnd { break }
            let record = source.record
            related.add(source.rowID, record)
            rows.append(MaterializedCursor.Row(id: source.rowID, offset: arena.append(record.bytes), count: record.count))
        }
        size = min(size * 16, Self.mostRows)
        if rows.isEmpty, let error { throw error }
    }

    override func close() {
        source.close()
        (rows, position, isAtEnd) = ([], 0, true)
    }

    override var rowsExamined: Int { source.rowsExamined }
}

extension RecordCursor {
    /// Returns the rows and the source of related objects with which a condition and expressions are evaluated: those given, unless the related objects are read from
    /// a server. These are then read for many rows together.
    /// - Parameters:
    ///   - limit: The number of rows after which the evaluation may end; nil if it needs all.
    package func ahead(
        _ predicate: QueryPredicate?, _ expressions: [QueryExpression], _ related: any RelatedRecords, _ layout: RecordLayout,
        limit: Int? = nil
    ) -> (rows: RecordCursor, related: any RelatedRecords) {
        guard predicate?.needsRelated ?? false || expressions.contains(where: \.needsRelated),
            let server = (related as? any ServerRecords)?.server
        else { return (self, related) }
        let ahead = RelatedAhead(related, server, RelatedWalk(predicate, expressions))
        let firstRows = limit.map { max(16, min($0, 64)) } ?? 64
        return (BlockCursor(self, ahead, layout, firstRows: firstRows), ahead)
    }
}

extension WatchedTransaction: ServerRecords {
    package var server: ServerSnapshot? { (inner as? any ServerRecords)?.server }
}
