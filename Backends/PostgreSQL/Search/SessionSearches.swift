import PolyStoreBackend
import PolyStoreQuery
import PolyStoreSearchIndex

/// The full-text indexes of a store in the transaction of a session.
final class SessionSearches {
    let indexes: [StoredSearchIndex]
    private let session: Unowned
    private(set) var storage: SearchStorage
    private(set) var set: SearchIndexSet
    /// The documents that were changed since the last flush, by the numbers of the indexes.
    @exclusivity(unchecked) private var documents: [UInt32: [Int64]] = [:]

    private struct Unowned { unowned let session: Session }

    init(_ session: Session, _ indexes: [StoredSearchIndex]) {
        self.indexes = indexes
        self.session = Unowned(session: session)
        storage = SearchStorage(session)
        set = SearchIndexSet(indexes, storage, location: session.connection.location)
    }

    /// Forgets what was read and collected, after the transaction has returned to a savepoint.
    func reset() {
        let states = storage.states
        storage = SearchStorage(session.session)
        storage.states = states
        set = SearchIndexSet(indexes, storage, location: session.session.connection.location)
        documents = [:]
    }

    /// A Boolean value that indicates whether changes have not been flushed.
    var hasChanges: Bool { !documents.isEmpty }

    /// Returns the indexes that a change affects.
    func affected(_ change: ChangeSet.Change) -> [StoredSearchIndex] {
        guard set.hasIndexes(change.entity) else { return [] }
        return indexes.filter { $0.entity == change.entity && (change.kind != .update || !$0.mask.isDisjoint(with: change.mask)) }
    }

    /// Returns whether change sets affect an index.
    func areAffected(by sets: [ChangeSet]) -> Bool {
        !indexes.isEmpty && sets.contains { $0.changes.contains { !affected($0).isEmpty } }
    }

    /// Adds the changes of change sets that were applied, or are applied by the request that commits.
    func add(_ changes: [SearchTextChange]) throws {
        for change in changes { documents[change.index.number, default: []].append(change.rowID) }
        try set.add(changes)
    }

    /// Returns the statement that reads the pages that a flush changes; nil if they are known.
    func reading() -> Statement? { storage.reading(documents.mapValues { SearchIndexWriter.keys(ofDocuments: $0) }) }

    /// Writes the changes, and returns the statements that the next request contains.
    func flush() throws -> [Statement] {
        try storage.readMerged(indexes.filter { documents[$0.number] != nil })
        try set.flush()
        documents = [:]
        return storage.takeWritten()
    }
}

/// Where the transaction of a session reads and writes the full-text indexes.
final class SearchStorage: SearchIndexStorage {
    private unowned let session: Session
    /// How much of each index is built, once it was read.
    @exclusivity(unchecked) var states: [UInt32: SearchIndexState]?
    @exclusivity(unchecked) private var tables: [UInt32: SearchPagesTable] = [:]

    init(_ session: Session) { self.session = session }

    /// The statement that reads how much of each index is built, and its first page.
    var statesStatement: Statement {
        let tables = session.tables
        return Statement(
            "SELECT s.\"index\", s.\"isComplete\", s.built, p.v FROM \(tables.search) AS s LEFT JOIN \(tables.searchPages) AS p "
                + "ON p.\"index\" = s.\"index\" AND p.k = $1", [.bytes(SearchIndexWriter.structureKey)])
    }

    /// Called with the result of ``statesStatement``.
    func didRead(_ rows: Rows) throws {
        var found: [UInt32: SearchIndexState] = [:]
        for row in 0..<rows.count {
            guard let number = rows.integer(row, 0).flatMap({ UInt32(exactly: $0) }) else { continue }
            found[number] = rows.bool(row, 1) ? .complete : .building(through: rows.integer(row, 2))
            table(number).keep(rows.isNull(row, 3) ? nil : [UInt8](rows.bytes(row, 3)), at: SearchIndexWriter.structureKey)
        }
        states = found
    }

    func state(of index: StoredSearchIndex) throws -> SearchIndexState {
        if states == nil {
            let statement = statesStatement
            guard let rows = try session.request({ try $0.run([statement]).last }) else { return .building(through: nil) }
            try didRead(rows)
        }
        guard let state = states?[index.number] else {
            throw StoreError(
                .corrupt,
                "polystore_search of \(session.connection.location) has no row for the index \(index.name(in: schema)), which has the number \(index.number).",
                location: session.connection.location)
        }
        return state
    }

    private func table(_ number: UInt32) -> SearchPagesTable {
        if let known = tables[number] { return known }
        let table = SearchPagesTable(session, number)
        tables[number] = table
        return table
    }

    var schema: ResolvedSchema { session.tables.schema }
    func pages(of index: StoredSearchIndex) -> any SearchPageReader { table(index.number) }
    func writablePages(of index: StoredSearchIndex) -> (any SearchPageWriter)? { table(index.number) }

    /// The limits of an index. Two of its pages fit into a page of the server.
    var limits: SearchIndexLimits {
        var limits = SearchIndexLimits()
        limits.page = 3_900
        return limits
    }

    /// Removes all pages of an index.
    func removePages(of index: StoredSearchIndex) throws { try table(index.number).remove(from: [], below: [255]) }

    // MARK: Requests

    /// Returns the statement that reads pages of several indexes; nil if all are known.
    func reading(_ keys: [UInt32: [[UInt8]]]) -> Statement? {
        var numbers: [Int64] = []
        var wanted: [[UInt8]] = []
        for (number, keys) in keys.sorted(by: { $0.key < $1.key }) {
            for key in keys where !table(number).keeps(key) {
                numbers.append(Int64(number))
                wanted.append(key)
            }
        }
        if wanted.isEmpty { return nil }
        return Statement(
            "SELECT q.i, q.k, p.v FROM unnest($1::bigint[], $2::bytea[]) AS q(i, k) LEFT JOIN LATERAL "
                + "(SELECT v FROM \(session.tables.searchPages) WHERE \"index\" = q.i AND k = q.k LIMIT 1) AS p ON true",
            [.integers(numbers), .byteArrays(wanted)])
    }

    /// Called with the result of a statement of ``reading(_:)``.
    func didReadPages(_ rows: Rows) {
        for row in 0..<rows.count {
            guard let number = rows.integer(row, 0).flatMap({ UInt32(exactly: $0) }) else { continue }
            table(number).keep(rows.isNull(row, 2) ? nil : [UInt8](rows.bytes(row, 2)), at: [UInt8](rows.bytes(row, 1)))
        }
    }

    /// The numbers of pages of a range that are read for a merge, and above which a merge reads its pages itself.
    private static let (mergedPages, mostRanges) = (8, 64)

    /// Reads what the merges of indexes need that their flush continues, with one request.
    func readMerged(_ indexes: [StoredSearchIndex]) throws {
        var ranges: [(number: UInt32, lower: [UInt8], upper: [UInt8])] = []
        for index in indexes {
            guard let structure = table(index.number).structure else { continue }
            // A damaged page is reported by the flush.
            let found = (try? SearchIndexWriter.ranges(ofMerges: structure, fields: index.fields.count)) ?? []
            ranges += found.map { (index.number, $0.lower, $0.upper) }
        }
        guard !ranges.isEmpty, ranges.count <= Self.mostRanges else { return }
        let statement = Statement(
            "SELECT q.n, p.k, p.v FROM unnest($1::bigint[], $2::bytea[], $3::bytea[]) WITH ORDINALITY AS q(i, lower, upper, n) CROSS JOIN LATERAL "
                + "(SELECT k, v FROM \(session.tables.searchPages) WHERE \"index\" = q.i AND k >= q.lower AND k < q.upper ORDER BY k LIMIT $4) AS p",
            [
                .integers(ranges.map { Int64($0.number) }), .byteArrays(ranges.map(\.lower)), .byteArrays(ranges.map(\.upper)),
                .integer(Int64(Self.mergedPages)),
            ])
        let written = takeWritten()
        guard let rows = try session.request({ try $0.run(written + [statement]).last }) else { return }
        var pages = [[SearchPage]](repeating: [], count: ranges.count)
        for row in 0..<rows.count {
            guard let number = rows.integer(row, 0), pages.indices.contains(Int(number - 1)) else { continue }
            pages[Int(number - 1)].append(SearchPage(key: [UInt8](rows.bytes(row, 1)), bytes: [UInt8](rows.bytes(row, 2))))
        }
        for range in ranges { table(range.number).forgetRanges() }
        for (range, pages) in zip(ranges, pages) {
            let sorted = pages.sorted { $0.key.lexicographicallyPrecedes($1.key) }
            table(range.number).keep(sorted, from: range.lower, below: range.upper, limit: Self.mergedPages)
        }
    }

    /// Returns the statements that write pages and have not been sent. The caller sends them.
    func takeWritten() -> [Statement] { tables.sorted { $0.key < $1.key }.flatMap { $0.value.takeWritten() } }
}
