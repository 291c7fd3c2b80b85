import PolyStoreBackend
import PolyStoreCore

/// Reads the pending changes of a transaction.
struct ChangeReader {
    let store: BrowserStore
    let transaction: Transaction
    /// The object of the form; nil if there is none any more.
    let subject: AnyObjectID?
    /// The properties of the form, which a new object need not have from its defaults.
    let entered: Set<String>

    /// The created objects, whose ids are others in each transaction.
    private let inserted: Set<AnyObjectID>

    private var names: NameReader { NameReader(store: store, context: transaction) }

    init(_ store: BrowserStore, _ transaction: Transaction, subject: AnyObjectID?, entered: Set<String>) {
        (self.store, self.transaction, self.subject, self.entered) = (store, transaction, subject, entered)
        inserted = transaction.insertedObjectIDs()
    }

    /// Returns the changes.
    /// - Parameter deleted: The deleted objects, which the transaction does not find any more.
    func preview(deleted: DeletedObjects, seen: SeenValues?) throws -> ChangePreview {
        var fingerprint = Fingerprint()
        if let seen { fingerprint.add(seen.text) }
        let (inserted, updated) = (sorted(self.inserted), sorted(transaction.updatedObjectIDs()))
        var objects: [ChangePreview.Object] = []
        var counts: [ChangePreview.Kind: [String: Int]] = [.deleted: deleted.counts]
        for id in deleted.ids { fingerprint.add("deleted \(id) \(deleted.values[id] ?? "")") }
        for named in deleted.named.prefix(ChangePreview.limit) {
            objects.append(.init(kind: .deleted, object: named, isSubject: named == deleted.subject, properties: []))
        }
        for (kind, ids) in [(ChangePreview.Kind.inserted, inserted), (.updated, updated)] {
            for id in ids {
                guard let object = try transaction.fetchExisting(id) else { continue }
                let changed = try changedProperties(of: object)
                // An object that was set back to what it was.
                if kind == .updated, changed.isEmpty { continue }
                counts[kind, default: [:]][object.entityName, default: 0] += 1
                fingerprint.add(kind == .inserted ? "inserted \(object.entityName)" : "updated \(id)")
                // Of all objects, also of those that are not described.
                add(changed, of: object, to: &fingerprint)
                guard objects.count < ChangePreview.limit || id == subject else { continue }
                objects.append(
                    .init(
                        kind: kind, object: try names.named(object), isSubject: id == subject,
                        properties: try changed.map { try self.property($0.property, $0.change) }))
            }
        }
        return ChangePreview(
            objects: objects.filter(\.isSubject) + objects.filter { !$0.isSubject }, counts: ChangePreview.Count.list(counts), mistakes: [],
            digest: fingerprint.text)
    }

    private func sorted(_ ids: Set<AnyObjectID>) -> [AnyObjectID] {
        ids.sorted { ($0 == subject ? 0 : 1, $0.entityName, $0.rowID) < ($1 == subject ? 0 : 1, $1.entityName, $1.rowID) }
    }

    // MARK: Properties

    /// A property of an object with its change.
    private typealias Changed = (property: PropertyDescription, change: PropertyChange)

    private func changedProperties(of object: DynamicObject) throws -> [Changed] {
        let changes = try changes(of: object)
        return try store.model(object.entityName).properties.compactMap { property in
            changes[property.name].map { (property, $0) }
        }
    }

    private func changes(of object: DynamicObject) throws -> [String: PropertyChange] {
        guard let model = object as? any Model else { return [:] }
        var changes = try model.changedValues()
        guard object.id == subject, !object.isInserted else { return changes }
        // Texts whose bytes differ, although Swift takes them for equal.
        let old = try model.committedValues()
        for name in entered where changes[name] == nil {
            guard case .text(let before)? = old[name], case .text(let after)? = try object.value(name),
                !before.utf8.elementsEqual(after.utf8)
            else { continue }
            changes[name] = .value(old: .text(before), new: .text(after))
        }
        return changes
    }

    private func property(_ property: PropertyDescription, _ change: PropertyChange) throws -> ChangePreview.Property {
        switch change {
        case .value(let old, let new):
            return .init(
                name: property.name, old: try names.text(old, property), new: try names.text(new, property), added: [], removed: [])
        case .members(let added, let removed):
            return .init(name: property.name, old: nil, new: nil, added: try named(added), removed: try named(removed))
        case .list(let old, let new):
            return .init(
                name: property.name, old: try names.text(old), new: try names.text(new),
                added: try named(Set(new).subtracting(old)), removed: try named(Set(old).subtracting(new)))
        }
    }

    private func named(_ ids: Set<AnyObjectID>) throws -> [NamedObject] {
        try ids.sorted { $0.rowID < $1.rowID }.prefix(NameReader.targetLimit).map(names.named)
    }

    // MARK: The digest

    private func add(_ changed: [Changed], of object: DynamicObject, to fingerprint: inout Fingerprint) {
        // A default such as the current time is another one in each transaction.
        for (property, change) in changed where !object.isInserted || entered.contains(property.name) {
            add(change, property.name, to: &fingerprint)
        }
    }

    private func add(_ change: PropertyChange, _ name: String, to fingerprint: inout Fingerprint) {
        fingerprint.add(name)
        switch change {
        case .value(let old, let new):
            for value in [old, new] {
                if case .objectID(let id)? = value { fingerprint.add(text(id)) } else { fingerprint.add(value) }
            }
        case .members(let added, let removed):
            for ids in [added, removed] { for id in ids.map(text).sorted() { fingerprint.add(id) } }
        case .list(let old, let new):
            for ids in [old, new] { for id in ids.map(text) { fingerprint.add(id) } }
        }
    }

    private func text(_ id: AnyObjectID) -> String { inserted.contains(id) ? "new" : "\(id.rowID)" }
}
