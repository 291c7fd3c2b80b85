import PolyStoreBackend
import PolyStoreSearch
import PolyStoreSearchIndex

/// Where a transaction reads and writes the full-text indexes of its store.
package protocol SearchIndexStorage {
    /// Returns how much of an index is built, as the transaction sees it. Called once for each index of a transaction.
    func state(of index: StoredSearchIndex) throws -> SearchIndexState
    /// Returns the pages of an index.
    func pages(of index: StoredSearchIndex) -> any SearchPageReader
    /// Returns the pages of an index for a transaction that writes; nil for one that reads.
    func writablePages(of index: StoredSearchIndex) -> (any SearchPageWriter)?
    /// The sizes of the indexes. There is a default.
    var limits: SearchIndexLimits { get }
    /// The schema that the store was opened with, for the names in messages.
    var schema: ResolvedSchema { get }
}

extension SearchIndexStorage {
    package var limits: SearchIndexLimits { SearchIndexLimits() }
}

/// The full-text indexes of a store in one transaction: their states, readers and writers.
///
/// A write transaction collects the changed texts with ``collect(_:of:old:new:into:)`` while it reads the old records, passes them to ``add(_:)`` once its change set is applied, and
/// calls ``flush()`` before it commits. A search flushes too. After an error of ``add(_:)``, ``flush()`` or a search of a write transaction, the transaction may only be rolled back.
package final class SearchIndexSet {
    private let indexes: [Int: [StoredSearchIndex]]
    private let storage: any SearchIndexStorage
    private let location: String
    // Used by one thread; each access is a single load or store.
    @exclusivity(unchecked) private var states: [UInt32: SearchIndexState] = [:]
    @exclusivity(unchecked) private var readers: [UInt32: SearchIndexReader] = [:]
    @exclusivity(unchecked) private var writers: [UInt32: SearchIndexWriter] = [:]
    @exclusivity(unchecked) private var isChanged = false

    /// - Parameters:
    ///   - indexes: The indexes of the store.
    ///   - location: The location of the store, for errors.
    package init(_ indexes: [StoredSearchIndex], _ storage: any SearchIndexStorage, location: String) {
        self.indexes = Dictionary(grouping: indexes, by: \.entity)
        self.storage = storage
        self.location = location
    }

    /// Returns whether an entity has indexes.
    package func hasIndexes(_ entity: Int) -> Bool { indexes[entity] != nil }

    /// Returns how much of an index is built.
    package func state(of index: StoredSearchIndex) throws -> SearchIndexState {
        if let known = states[index.number] { return known }
        let state = try storage.state(of: index)
        states[index.number] = state
        return state
    }

    // MARK: Reading

    /// Executes a search; returns nil if no complete index serves it.
    package func search(_ request: SearchRequest, check: () throws -> Void) throws -> SearchHits? {
        let condition = request.condition
        guard let reader = try reader(condition) else { return nil }
        let weights = condition.index.weights
        return try reporting(condition.index.plainName, condition.entity.name) {
            guard let limit = request.limit, let statistics = request.statistics else {
                return try reader.all(condition.search, scoredBy: request.statistics, weights: weights, check: check)
            }
            return try reader.best(limit, condition.search, scoredBy: statistics, weights: weights, check: check)
        }
    }

    /// Returns the statistics of a search; nil if no complete index serves it.
    package func statistics(_ condition: SearchCondition, check: () throws -> Void) throws -> SearchStatistics? {
        guard let reader = try reader(condition) else { return nil }
        return try reporting(condition.index.plainName, condition.entity.name) { try reader.statistics(condition.search, check: check) }
    }

    private func reader(_ condition: SearchCondition) throws -> SearchIndexReader? {
        guard let index = indexes[condition.entity.index]?.first(where: { $0.serves(condition.index, of: condition.entity) }),
            try state(of: index) == .complete
        else { return nil }
        try flush()
        if let known = readers[index.number] { return known }
        let reader = SearchIndexReader(storage.pages(of: index), fields: index.fields.count, limits: storage.limits)
        readers[index.number] = reader
        return reader
    }

    // MARK: Writing

    /// Returns the indexes of an entity that a change of some fields affects; nil for an insertion or a deletion. Empty for most changes.
    package func affected(_ entity: Int, by fields: FieldMask?) -> [StoredSearchIndex] {
        guard let own = indexes[entity] else { return [] }
        guard let fields else { return own }
        return own.filter { !$0.mask.isDisjoint(with: fields) }
    }

    /// Adds the changes of the texts of one object to a list.
    /// - Parameters:
    ///   - old: The record before the change; nil for a new object, whose record must stay valid until ``add(_:)``.
    ///   - new: The record after the change; nil for a deleted object.
    package func collect(
        _ rowID: Int64, of affected: [StoredSearchIndex], old: RecordView?, new: RecordView?, into list: inout [SearchTextChange]
    ) {
        for index in affected {
            guard let old else {
                list.append(SearchTextChange(index: index, rowID: rowID, old: nil, new: nil, inserted: new))
                continue
            }
            add(SearchTextChange(index: index, rowID: rowID, old: index.texts(of: old), new: index.texts(of: new)), to: &list)
        }
    }

    /// Adds the changes of the texts of one object by an update to a list.
    /// - Parameters:
    ///   - old: The record before the change.
    ///   - changed: The record with the new values of the changed fields.
    package func collect(
        _ rowID: Int64, of affected: [StoredSearchIndex], old: RecordView, updatedBy changed: RecordView, _ fields: FieldMask,
        into list: inout [SearchTextChange]
    ) {
        for index in affected {
            let new = index.texts(of: old, updatedBy: changed, fields)
            add(SearchTextChange(index: index, rowID: rowID, old: index.texts(of: old), new: new), to: &list)
        }
    }

    private func add(_ change: SearchTextChange, to list: inout [SearchTextChange]) {
        if change.old != change.new { list.append(change) }
    }

    /// Passes the changes of a change set that is applied to the indexes. An index that is being built takes those of the documents that it contains.
    package func add(_ changes: [SearchTextChange]) throws {
        if changes.isEmpty { return }
        isChanged = true
        for change in changes {
            // A transaction that has begun again may find other indexes than those for which the texts were collected.
            guard indexes[change.index.entity]?.contains(change.index) ?? false, try state(of: change.index).covers(change.rowID),
                let writer = writer(change.index)
            else { continue }
            let new = change.inserted.map { change.index.texts(of: $0) } ?? change.new
            try reporting(change.index) { try writer.replace(change.rowID, old: change.old, new: new) }
        }
    }

    /// Adds a document to an index that is being built. The caller flushes, and writes the state of the index.
    package func build(_ index: StoredSearchIndex, _ rowID: Int64, _ record: RecordView) throws -> Int {
        guard let writer = writer(index), let texts = index.texts(of: record) else { return 0 }
        isChanged = true
        try reporting(index) { try writer.replace(rowID, old: nil, new: texts) }
        return texts.reduce(0) { $0 + ($1?.utf8.count ?? 0) }
    }

    private func writer(_ index: StoredSearchIndex) -> SearchIndexWriter? {
        if let known = writers[index.number] { return known }
        guard let pages = storage.writablePages(of: index) else { return nil }
        let writer = SearchIndexWriter(pages, fields: index.fields.count, options: index.options, limits: storage.limits)
        writers[index.number] = writer
        return writer
    }

    /// Writes the changes that were added.
    package func flush() throws {
        guard isChanged else { return }
        readers = [:]
        for (number, writer) in writers.sorted(by: { $0.key < $1.key }) {
            guard let index = indexes.values.joined().first(where: { $0.number == number }) else { continue }
            try reporting(index) { try writer.flush() }
        }
        // A writer that has failed fails again: its changes are not in the index.
        isChanged = false
    }

    // MARK: Maintenance

    /// Compares an index with the texts of the records, and returns a sentence for each difference.
    /// - Parameters:
    ///   - records: Calls a closure with each record of the entity, in ascending order of the row ids. It can be called twice.
    ///   - check: Called now and then; an error that it throws ends the verification.
    package func findings(
        _ index: StoredSearchIndex, check: () throws -> Void,
        records: @escaping (_ body: (Int64, RecordView) throws -> Void) throws -> Void
    ) throws -> [String] {
        let state = try state(of: index)
        // Pages from before are removed when the index is built again, and nothing reads them.
        if state == .building(through: nil) { return [] }
        let verifier = SearchIndexVerifier(storage.pages(of: index), fields: index.fields.count, options: index.options)
        let found = try verifier.verify(
            { body in
                try records { rowID, record in
                    guard state.covers(rowID), let texts = index.texts(of: record) else { return }
                    try body(rowID, texts)
                }
            }, check: check)
        let name = index.name(in: storage.schema)
        return found.map { "The index \(name): \($0)" }
    }

    /// Merges all segments of an index.
    package func optimize(_ index: StoredSearchIndex) throws {
        guard try state(of: index) != .building(through: nil), let writer = writer(index) else { return }
        try reporting(index) { try writer.optimize() }
    }

    /// Does a part of a merge of all segments of an index, in one of several transactions.
    /// - Parameters:
    ///   - merge: The merge, which the transactions share.
    ///   - budget: The number of bytes of pages to write.
    /// - Returns: Whether parts remain.
    package func optimize(_ index: StoredSearchIndex, _ merge: inout SearchIndexMerge, budget: Int) throws -> Bool {
        guard try state(of: index) != .building(through: nil), let writer = writer(index) else { return false }
        return try reporting(index) { try writer.optimize(&merge, budget: budget) }
    }

    private func reporting<Result>(_ index: StoredSearchIndex, _ body: () throws -> Result) throws -> Result {
        try reporting(index.name(in: storage.schema), storage.schema.entities[index.entity].name, body)
    }

    /// Names the index and its repair in an error of damaged pages.
    private func reporting<Result>(_ name: String, _ entity: String, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as SearchIndexError {
            let reason =
                switch error {
                case .damaged(let reason): "It is damaged: \(reason). To build it again from the texts, call rebuildIndexes."
                case .unknownFormat: error.description
                }
            throw StoreError(
                .corrupt, "The full-text index \(name) of \(entity) in \(location) cannot be used. \(reason)", entity: entity,
                location: location)
        }
    }
}
