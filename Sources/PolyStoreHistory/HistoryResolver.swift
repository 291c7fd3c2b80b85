import Foundation
import PolyStoreAttributes
import PolyStoreBackend
import PolyStoreKernel

/// Resolves the names in the history entries of one store with the stack's schema.
struct HistoryResolver {
    private let store: PersistentStore
    /// The entities, by the names of entities and of the classes of hierarchies.
    private let entries: [String: StoreEntity]

    init(_ store: PersistentStore, _ table: StoreTable) {
        self.store = store
        entries = table.entriesByName(of: store)
    }

    /// - Returns: `nil` for an entry that is excluded.
    func entry(
        _ logged: LogEntry, _ record: HistoryRecord, _ filter: HistoryFilter, followsUnrecordedCommits: Bool
    ) -> HistoryEntry? {
        let date = HistoryRecord.date(record.head.time)
        guard !record.head.isInternal, filter.accepts(author: record.head.author, date: date),
            let changes = filter.selected(record.groups.flatMap(changes))
        else { return nil }
        return HistoryEntry(
            storeID: store.storeID, version: logged.version, date: date, author: record.head.author,
            followsUnrecordedCommits: followsUnrecordedCommits, changes: changes, token: HistoryToken())
    }

    private func changes(_ group: HistoryRecord.Group) -> [HistoryChange] {
        let entry = entries[group.entity]
        return group.ids.enumerated().map { position, id in
            HistoryChange(
                kind: HistoryChange.Kind(group.kind), entityName: group.entity, rowID: id,
                changedKeys: group.kind == .updated ? group.keys : [],
                previousValues: values(group, position, entry), objectID: entry.map { AnyObjectID(entry: $0, rowID: id) })
        }
    }

    private func values(_ group: HistoryRecord.Group, _ position: Int, _ entry: StoreEntity?) -> [String: QueryValue] {
        guard !group.values.isEmpty else { return [:] }
        var found: [String: QueryValue] = [:]
        for (offset, key) in group.keys.enumerated() {
            guard let value = group.values[position * group.keys.count + offset] else { continue }
            found[key] = self.value(value, key, entry)
        }
        return found
    }

    /// - Returns: `nil` for null.
    private func value(_ value: Value, _ key: String, _ entry: StoreEntity?) -> QueryValue? {
        guard let entry, let field = entry.entity.field(named: key) else { return QueryValue(plain: value) }
        if let relationship = field.relationship, case .integer(let target) = value {
            let entityIndex = Int(entry.destinations[relationship]) - Int(store.firstEntityIndex)
            return entries[store.schema.entities[entityIndex].name].map { .objectID(AnyObjectID(entry: $0, rowID: target)) }
        }
        // The type of the attribute may have changed since the entry was written.
        return (try? QueryValue(value, field.type)) ?? QueryValue(plain: value)
    }
}

extension QueryValue {
    /// Creates a value of unknown type; `nil` for null.
    fileprivate init?(plain value: Value) {
        switch value {
        case .null: return nil
        case .integer(let integer): self = .integer(integer)
        case .real(let real): self = .real(real)
        case .text(let text): self = .text(text)
        case .blob(let bytes): self = .data(Data(bytes))
        }
    }
}

extension HistoryEntry {
    /// Returns the entry with another token.
    func following(_ token: HistoryToken) -> HistoryEntry {
        HistoryEntry(
            storeID: storeID, version: version, date: date, author: author, followsUnrecordedCommits: followsUnrecordedCommits,
            changes: changes, token: token)
    }
}

extension HistoryChange.Kind {
    fileprivate init(_ kind: HistoryRecord.Kind) {
        switch kind {
        case .inserted: self = .inserted
        case .updated: self = .updated
        case .deleted: self = .deleted
        }
    }
}
