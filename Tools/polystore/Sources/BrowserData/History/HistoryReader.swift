import Foundation
import PolyStoreCore

/// Describes entries of the history.
struct HistoryReader: Sendable {
    let store: BrowserStore
    let request: HistoryRequest
    /// The names of the entity of the request and its subentities; nil for all.
    private let entities: Set<String>?

    init(_ store: BrowserStore, _ request: HistoryRequest) throws {
        (self.store, self.request) = (store, request)
        entities = try request.entity.map { Set([$0] + (try store.model($0)).concreteNames) }
        if let object = request.object { _ = try store.model(object.entity) }
    }

    /// Returns the changes that the request selects; nil for a transaction without any.
    func selected(_ entry: HistoryEntry) throws -> [HistoryChange]? {
        if let author = request.author, author != entry.author ?? "" { return nil }
        guard entities != nil || request.object != nil else { return entry.changes }
        let id = try request.object.map { try store.stack.objectID($0.entity, rowID: $0.rowID) }
        let found = entry.changes.filter { change in
            entities?.contains(change.entityName) ?? true && (id == nil || change.objectID == id)
        }
        return found.isEmpty ? nil : found
    }

    /// Describes a transaction.
    func transaction(_ entry: HistoryEntry, _ changes: [HistoryChange], in context: Context) throws -> HistoryPage.Transaction {
        let names = NameReader(store: store, context: context)
        var counts: [ChangePreview.Kind: [String: Int]] = [:]
        for change in changes { counts[change.kind.preview, default: [:]][change.entityName, default: 0] += 1 }
        return HistoryPage.Transaction(
            position: entry.token.position(in: entry.storeID) ?? 0, version: entry.version, date: entry.date, author: entry.author,
            counts: ChangePreview.Count.list(counts),
            changes: try changes.prefix(HistoryPage.changeLimit).map { try describe($0, names) }, changeCount: changes.count)
    }

    /// Describes a transaction for a page that is open.
    func live(_ entry: HistoryEntry, in context: Context) throws -> LiveTransaction {
        let objects = entry.changes.prefix(LiveTransaction.objectLimit).map { change in
            LiveTransaction.Object(
                kind: change.kind.preview, reference: ObjectReference(entity: change.entityName, rowID: change.rowID))
        }
        let selected = try selected(entry).map { try transaction(entry, $0, in: context) }
        return LiveTransaction(objects: objects, changeCount: entry.changes.count, selected: selected)
    }

    private func describe(_ change: HistoryChange, _ names: NameReader) throws -> HistoryPage.Change {
        let reference = ObjectReference(entity: change.entityName, rowID: change.rowID)
        let named = try change.objectID.map { try names.named($0) }
        let model = try? store.model(change.entityName)
        return HistoryPage.Change(
            kind: change.kind.preview, object: NamedObject(reference: reference, entity: change.entityName, name: named?.name),
            properties: change.changedKeys.sorted(),
            previous: Dictionary(
                uniqueKeysWithValues: change.previousValues.map { name, value in
                    (name, BrowserValue(value, model?.attribute(name)?.type))
                }))
    }
}

extension HistoryChange.Kind {
    fileprivate var preview: ChangePreview.Kind {
        switch self {
        case .inserted: .inserted
        case .updated: .updated
        case .deleted: .deleted
        }
    }
}
