import PolyStoreBackend
import PolyStoreCore

/// The work of a transaction that changes one object.
struct EditWork: Sendable {
    let store: BrowserStore
    let edit: ObjectEdit

    init(store: BrowserStore, edit: ObjectEdit) {
        var edit = edit
        if let seen = edit.seen.flatMap({ SeenValues($0) }) { edit.input.removeOrders(shownBy: seen) }
        (self.store, self.edit) = (store, edit)
    }

    /// The result of the work.
    enum Result: Sendable {
        /// The changes are pending in the transaction. The id is that of the object, also of a deleted one.
        case changed(ChangePreview, AnyObjectID?)
        /// The object is not what the form showed. Nothing was changed.
        case conflict(EditConflict)
    }

    /// Applies the change to a transaction.
    func run(_ transaction: Transaction) throws -> Result {
        switch edit.action {
        case .create(let entity): return try create(entity, transaction)
        case .update(let reference):
            guard let object = try find(reference, transaction) else { return .conflict(.deleted) }
            return try update(object, transaction)
        case .delete(let reference):
            guard let object = try find(reference, transaction) else { return .conflict(.deleted) }
            return try delete(object, transaction)
        }
    }

    private func find(_ reference: ObjectReference, _ transaction: Transaction) throws -> DynamicObject? {
        try transaction.fetchExisting(store.stack.objectID(reference.entity, rowID: reference.rowID))
    }

    private func create(_ entity: String, _ transaction: Transaction) throws -> Result {
        let model = try store.model(entity)
        guard !model.isAbstract else {
            let names = model.concreteNames.joined(separator: ", ")
            return .changed(.refusing("\(entity) is abstract: create an object of \(names.isEmpty ? "another entity" : names)."), nil)
        }
        let object = try transaction.create(entity)
        return try changed(object, transaction)
    }

    private func update(_ object: DynamicObject, _ transaction: Transaction) throws -> Result {
        if let found = try conflict(object, transaction) { return found }
        return try changed(object, transaction)
    }

    private func changed(_ object: DynamicObject, _ transaction: Transaction) throws -> Result {
        var applier = FormApplier(store, transaction)
        try applier.apply(edit.input, to: object)
        let reader = ChangeReader(store, transaction, subject: object.id, entered: Set(edit.input.entries.keys))
        var preview = try reader.preview(deleted: .none, seen: nil)
        preview.mistakes = applier.mistakes
        return .changed(preview, object.id)
    }

    private func delete(_ object: DynamicObject, _ transaction: Transaction) throws -> Result {
        if let found = try conflict(object, transaction) { return found }
        let id = object.id
        // Without to-many relationships, whose targets are among the changes.
        let seen = try SeenValues(object, store.model(object.entityName), members: [:])
        let deleted = try DeletedObjects(deleting: object, in: transaction, store)
        try transaction.delete(object)
        let reader = ChangeReader(store, transaction, subject: id, entered: [])
        return .changed(try reader.preview(deleted: deleted, seen: seen), id)
    }

    // MARK: Conflicts

    /// Returns the difference between an object and what the form has shown; nil if there is none.
    private func conflict(_ object: DynamicObject, _ transaction: Transaction) throws -> Result? {
        guard let text = edit.seen else { return nil }
        guard let seen = SeenValues(text) else {
            return .changed(.refusing("The form is incomplete: open it again, and repeat the change."), object.id)
        }
        let model = try store.model(object.entityName)
        let toMany = Set(model.relationships.filter(\.isToMany).map(\.name))
        // Others can add targets to a relationship that the form does not change.
        let different = try FormReader(store: store, context: transaction).seen(object).differences(from: seen)
            .filter { !toMany.contains($0) || edit.input.entries[$0] != nil }
        guard !different.isEmpty else { return nil }
        let names = NameReader(store: store, context: transaction)
        let properties = try model.properties.compactMap { property -> EditConflict.Property? in
            let entry = edit.input.entries[property.name]
            guard different.contains(property.name) || entry != nil else { return nil }
            let stored =
                toMany.contains(property.name)
                ? try names.text(object.objects(property.name).map(\.id)) : try names.text(object.value(property.name), property)
            return EditConflict.Property(
                name: property.name, stored: stored, entered: entry.map(\.description) ?? stored,
                wasChanged: different.contains(property.name), wasEntered: entry != nil)
        }
        return .conflict(EditConflict(isDeleted: false, properties: properties, preview: nil))
    }
}

extension EditConflict {
    /// The object of the form was deleted.
    fileprivate static let deleted = EditConflict(isDeleted: true, properties: [], preview: nil)
}

extension ChangePreview {
    /// Returns a preview of no changes with the reason for which there are none.
    static func refusing(_ message: String) -> ChangePreview {
        ChangePreview(objects: [], counts: [], mistakes: [Mistake(property: nil, message: message)], digest: "")
    }
}

extension FormInput {
    /// Removes the orders of relationships that a form has shown: a page sends them also if its reader left them alone.
    fileprivate mutating func removeOrders(shownBy seen: SeenValues) {
        for case (let property, .members(var changes)) in entries {
            guard let order = changes.order, seen.has(order, in: property) else { continue }
            changes.order = nil
            entries[property] = changes.isEmpty ? nil : .members(changes)
        }
    }
}

extension FormInput.Entry {
    /// The entry for a reader; nil for null.
    fileprivate var description: String? {
        switch self {
        case .null: nil
        case .text(let text), .escaped(let text): text
        case .bytes(let bytes): "<\(bytes.count) bytes>"
        case .members(let changes):
            [
                changes.added.isEmpty ? nil : "add \(changes.added.joined(separator: ", "))",
                changes.removed.isEmpty ? nil : "remove \(changes.removed.joined(separator: ", "))",
                changes.order.map { "order \($0.joined(separator: " "))" },
            ].compactMap { $0 }.joined(separator: "; ")
        }
    }
}
