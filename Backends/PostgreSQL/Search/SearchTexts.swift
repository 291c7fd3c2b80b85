import PolyStoreBackend
import PolyStoreQuery
import PolyStoreSearchIndex

/// The changes of texts by change sets, computed from the texts before them.
struct SearchTexts {
    private struct Object: Hashable {
        let entity: Int
        let rowID: Int64
    }
    private struct Document: Hashable {
        let index: UInt32
        let rowID: Int64
    }

    private let tables: StoreTables
    private let searches: SessionSearches
    private let sets: [ChangeSet]
    private let readsStates: Bool
    /// The fields of the indexes of each entity with objects that are updated or deleted, in ascending order, and these objects.
    private var read: [(entity: Int, fields: [Int], rowIDs: [Int64])] = []
    /// The keys of the pages that a flush of the changes reads, by the numbers of the indexes.
    private(set) var keys: [UInt32: [[UInt8]]] = [:]
    /// The documents that several changes concern.
    private var repeated: Set<Object> = []

    init(_ sets: [ChangeSet], _ searches: SessionSearches, _ tables: StoreTables) {
        (self.sets, self.searches, self.tables) = (sets, searches, tables)
        readsStates = searches.storage.states == nil
        var seen: Set<Object> = []
        var changed: [Int: Set<Int64>] = [:]
        var documents: [UInt32: [Int64]] = [:]
        for set in sets {
            for change in set.changes {
                let affected = searches.affected(change)
                if affected.isEmpty { continue }
                for index in affected { documents[index.number, default: []].append(change.rowID) }
                let object = Object(entity: change.entity, rowID: change.rowID)
                if !seen.insert(object).inserted { repeated.insert(object) }
                if change.kind != .insert { changed[change.entity, default: []].insert(change.rowID) }
            }
        }
        keys = documents.mapValues { SearchIndexWriter.keys(ofDocuments: $0) }
        for (entity, rowIDs) in changed.sorted(by: { $0.key < $1.key }) {
            let fields = Set(searches.indexes.filter { $0.entity == entity }.flatMap(\.fields)).sorted()
            read.append((entity, fields, rowIDs.sorted()))
        }
    }

    /// The statements that read the texts before the changes, and the states of the indexes if these are not known.
    var statements: [Statement] {
        (readsStates ? [searches.storage.statesStatement] : [])
            + read.map { part in
                let table = tables.entities[part.entity]
                let columns = ([SQLNames.objectID] + part.fields.map { table.columns[$0] }).joined(separator: ", ")
                return Statement(
                    "SELECT \(columns) FROM \(table.name) WHERE \(SQLNames.objectID) = ANY($1::bigint[])", [.integers(part.rowIDs)])
            }
    }

    /// Returns the changes of the texts, in the order in which the server executes the changes.
    /// - Parameter results: The results of ``statements``.
    func changes(_ results: ArraySlice<Rows>) throws -> [SearchTextChange] {
        if readsStates, let first = results.first { try searches.storage.didRead(first) }
        let results = results.dropFirst(readsStates ? 1 : 0).prefix(read.count)
        let reader = RowReader()
        var rows: [Object: (rows: Rows, row: Int, part: Int)] = [:]
        for (part, result) in results.enumerated() {
            for row in 0..<result.count {
                guard let id = result.integer(row, 0) else { continue }
                rows[Object(entity: read[part].entity, rowID: id)] = (result, row, part)
            }
        }
        var current: [Document: [String?]?] = [:]
        var list: [SearchTextChange] = []
        for set in sets {
            for kind in [ChangeSet.Kind.delete, .update, .insert] {
                for change in set.changes where change.kind == kind {
                    let affected = searches.affected(change)
                    if affected.isEmpty { continue }
                    let object = Object(entity: change.entity, rowID: change.rowID)
                    let isRepeated = repeated.contains(object)
                    for index in affected where try searches.set.state(of: index).covers(change.rowID) {
                        let document = Document(index: index.number, rowID: change.rowID)
                        var old: [String?]?
                        if let known = current[document] {
                            old = known
                        } else if kind != .insert, let found = rows[object] {
                            old = index.texts(
                                of: try reader.read(found.rows, found.row, tables.entities[change.entity], fields: read[found.part].fields))
                        }
                        let new = texts(change, set, index, old)
                        if old != new { list.append(SearchTextChange(index: index, rowID: change.rowID, old: old, new: new)) }
                        if isRepeated { current.updateValue(new, forKey: document) }
                    }
                }
            }
        }
        return list
    }

    /// Returns the texts of a document after a change.
    private func texts(_ change: ChangeSet.Change, _ set: ChangeSet, _ index: StoredSearchIndex, _ old: [String?]?) -> [String?]? {
        switch change.kind {
        case .delete: return nil
        case .insert: return index.texts(of: set.record(change))
        case .update:
            let record = set.record(change)
            let texts = index.fields.enumerated().map { position, field in
                change.mask.contains(field) ? (record.isNull(field) ? nil : record.string(field)) : old?[position]
            }
            return texts.contains { $0 != nil } ? texts : nil
        }
    }
}
