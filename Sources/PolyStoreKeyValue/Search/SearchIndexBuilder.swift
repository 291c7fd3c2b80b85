import PolyStoreBackend
import PolyStoreQuery
import PolyStoreSearchIndex

/// Builds a full-text index from the records while the store is in use, in batches in the order of the row ids.
///
/// Each batch is committed with the row id up to which the index is built, so a crash loses at most one batch. Writers maintain the documents up to it, and searches read the records until the
/// index is complete.
struct SearchIndexBuilder {
    private let handle: EngineHandle
    private let layout: StoreLayout
    private let isCancelled: (() -> Bool)?
    /// The maximum number of records of a commit.
    private let batch: Int
    /// The number of bytes of texts after which a batch ends.
    private static let bytesOfBatch = 8 << 20
    /// The number of bytes of pages that a transaction of a compaction writes.
    private static let bytesOfMerge = 8 << 20

    init(_ handle: EngineHandle, _ layout: StoreLayout, isCancelled: (() -> Bool)? = nil) {
        self.handle = handle
        self.layout = layout
        self.isCancelled = isCancelled
        batch = handle.engine.traits.recordsOfIndexCommit
    }

    /// Returns the incomplete indexes.
    func unfinished() throws -> [StoredSearchIndex] {
        if layout.searchIndexes.isEmpty { return [] }
        let snapshot = try handle.engine.snapshot()
        defer { snapshot.end() }
        try handle.check(layout, snapshot)
        return try layout.searchIndexes.filter { try SearchIndexEntry($0.number, snapshot, location: layout.location).state != .complete }
    }

    /// Builds the rest of an index.
    /// - Throws: `cancelled` between two batches.
    func build(_ index: StoredSearchIndex) throws { while try step(index).isUnfinished {} }

    /// Makes an index empty and incomplete, and builds it.
    func rebuild(_ index: StoredSearchIndex) throws {
        try write { writer in try setState(.building(through: nil), of: index, writer) }
        try build(index)
    }

    /// Merges all segments of each index, so that searches and the store need fewer pages, in transactions of a bounded size. A damaged index stays as it is, and a warning names it.
    func compact(_ logger: any StoreLogger) throws {
        try layout.searchIndexes.compact(logger) { try compact($0) }
    }

    private func compact(_ index: StoredSearchIndex) throws {
        var merge = SearchIndexMerge()
        var remains = true
        while remains {
            (remains, merge) = try write { writer in
                // The engine may run the transaction again.
                var merge = merge
                let search = SnapshotReader(layout, writer, isWritten: true).search
                return (try search?.optimize(index, &merge, budget: Self.bytesOfMerge) ?? false, merge)
            }
        }
    }

    /// Indexes one batch of records. It changes no object, so the commit version stays the same.
    /// - Returns: Whether records remain, and the number of records of the batch.
    func step(_ index: StoredSearchIndex) throws -> (isUnfinished: Bool, count: Int) {
        try write { writer in
            guard case .building(let last) = try SearchIndexEntry(index.number, writer, location: layout.location).state else {
                return (false, 0)
            }
            // Pages of the index before a rebuild, or of an interrupted one.
            if last == nil {
                let pages = KeyValueSearchPageWriter(index.number, layout, writer: writer)
                guard try pages.removeAll(limit: batch) else { return (true, 0) }
            }
            return try add(index, after: last, writer)
        }
    }

    private func add(_ index: StoredSearchIndex, after last: Int64?, _ writer: any EngineWriter) throws -> (isUnfinished: Bool, count: Int)
    {
        let reader = SnapshotReader(layout, writer, isWritten: true)
        guard let search = reader.search else { return (false, 0) }
        let entity = layout.schema.entities[index.entity]
        var range = KeyRange(recordsOf: layout.number(of: entity))
        if let last { range.start = last < .max ? KeyWriter().recordBytes(layout.number(of: entity), last + 1) : range.end }
        let cursor = try RecordCursorOverRange(reader, entity, ids: range)
        defer { cursor.close() }
        var (count, bytes) = (0, 0)
        var through = last
        var isComplete = false
        while count < batch, bytes < Self.bytesOfBatch {
            guard try cursor.next() else {
                isComplete = true
                break
            }
            bytes += try search.build(index, cursor.rowID, cursor.record)
            through = cursor.rowID
            count += 1
        }
        try search.flush()
        try setState(isComplete ? .complete : .building(through: through), of: index, writer)
        return (!isComplete, count)
    }

    private func setState(_ state: SearchIndexState, of index: StoredSearchIndex, _ writer: any EngineWriter) throws {
        var entry = try SearchIndexEntry(index.number, writer, location: layout.location)
        entry.state = state
        try entry.write(index.number, writer)
    }

    private func write<Result>(_ body: (any EngineWriter) throws -> Result) throws -> Result {
        try handle.write(isCancelled: isCancelled) { writer in
            do { try handle.checkMayWrite(layout, writer) } catch is UnfinishedMigration {
                throw EngineHandle.isBeingMigrated(layout.location)
            }
            return try body(writer)
        }
    }
}
