import Foundation
import PolyStoreBackend
import PolyStoreCore

/// Assigns the entries of a form to an object of a transaction, and collects what cannot be assigned.
struct FormApplier {
    let store: BrowserStore
    let transaction: Transaction
    private(set) var mistakes: [ChangePreview.Mistake] = []

    init(_ store: BrowserStore, _ transaction: Transaction) { (self.store, self.transaction) = (store, transaction) }

    /// Assigns the entries.
    /// - Throws: The errors of the store. What is wrong with an entry becomes a mistake of its property.
    mutating func apply(_ input: FormInput, to object: DynamicObject) throws {
        let model = try store.model(object.entityName)
        var entries = input.entries
        for property in model.properties {
            guard let entry = entries.removeValue(forKey: property.name) else { continue }
            try collecting(property.name) { applier in
                switch property {
                case .attribute(let attribute): try Self.set(attribute, entry, of: object, model)
                case .relationship(let relationship): try applier.set(relationship, entry, of: object)
                }
            }
        }
        for name in entries.keys.sorted() {
            mistakes.append(.init(property: nil, message: "\(object.entityName) has no property \"\(name)\"."))
        }
    }

    private mutating func collecting(_ property: String, _ body: (FormApplier) throws -> Void) throws {
        do { try body(self) } catch let mistake as FieldText.Mistake {
            mistakes.append(.init(property: property, message: mistake.message))
        } catch let error as StoreError where [.invalidValue, .misuse, .constraint, .notFound].contains(error.code) {
            mistakes.append(.init(property: property, message: error.message))
        }
    }

    // MARK: Attributes

    private static func set(
        _ attribute: AttributeDescription, _ entry: FormInput.Entry, of object: DynamicObject, _ model: EntityModel
    ) throws {
        let current = try object.value(attribute.name)
        guard let value = try value(attribute, entry, current) else { return }
        guard value != nil || !model.isRequired(attribute) else {
            throw FieldText.Mistake(message: "A value is required: enter \(FieldText(attribute.type).expected).")
        }
        // Null that is null already. Any other value is assigned, also one with other bytes that Swift takes for equal.
        if value == nil, current == nil, !object.isInserted { return }
        try object.set(attribute.name, to: value)
    }

    /// Returns the value of an entry; nil if it is the text of the current value.
    private static func value(_ attribute: AttributeDescription, _ entry: FormInput.Entry, _ current: QueryValue?) throws -> QueryValue?? {
        let type = FieldText(attribute.type)
        let shown = current.flatMap { FieldText.size($0) > FieldText.limit ? nil : type.text($0) }
        switch entry {
        case .null: return .some(nil)
        case .text(let text):
            if let shown, !shown.isEscaped, shown.text.utf8.elementsEqual(text.utf8) { return nil }
            return .some(try type.value(text))
        case .escaped(let text):
            if let shown, shown.isEscaped, shown.text.utf8.elementsEqual(text.utf8) { return nil }
            guard let text = FieldText.unescaped(text) else {
                throw FieldText.Mistake(
                    message: "A backslash begins \\\\, \\n, \\r, \\t, or a character such as \\u{0}. Write \\\\ for a backslash.")
            }
            return .some(try type.value(text))
        case .bytes(let bytes):
            if attribute.type == .data { return .some(.data(Data(bytes))) }
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw FieldText.Mistake(message: "The file is not text in UTF-8.")
            }
            return .some(try type.value(text))
        case .members: throw FieldText.Mistake(message: "The attribute has no targets.")
        }
    }

    // MARK: Relationships

    private func set(_ relationship: RelationshipDescription, _ entry: FormInput.Entry, of object: DynamicObject) throws {
        switch entry {
        case .members(let changes) where relationship.isToMany: try change(relationship, changes, of: object)
        case .null where !relationship.isToMany: try object.set(relationship.name, to: nil as DynamicObject?)
        case .text(let text) where !relationship.isToMany:
            let isEmpty = text.allSatisfy(\.isWhitespace)
            let target = isEmpty ? nil : try self.target(text, of: relationship)
            guard try target?.id != object.object(relationship.name)?.id else { return }
            try object.set(relationship.name, to: target)
        case .null, .text, .escaped, .bytes, .members:
            throw FieldText.Mistake(message: "The relationship needs the row id or the name of a \(relationship.destination).")
        }
    }

    private func change(_ relationship: RelationshipDescription, _ changes: FormInput.MemberChanges, of object: DynamicObject) throws {
        let added = try changes.added.map { try target($0, of: relationship) }
        let removed = try changes.removed.map { try target($0, of: relationship) }
        if let order = changes.order {
            guard relationship.isOrdered else { throw FieldText.Mistake(message: "The relationship has no order.") }
            try arrange(relationship, order, of: object)
        }
        if !removed.isEmpty { try object.remove(removed, from: relationship.name) }
        if !added.isEmpty { try object.insert(added, into: relationship.name) }
    }

    /// Arranges the targets of an ordered relationship.
    /// - Throws: A mistake if the list is not one of all targets, each once.
    private func arrange(_ relationship: RelationshipDescription, _ order: [String], of object: DynamicObject) throws {
        let current = try object.objects(relationship.name)
        let byID = Dictionary(uniqueKeysWithValues: current.map { ($0.id.rowID, $0) })
        let rowIDs = order.compactMap { Int64($0) }
        guard rowIDs.count == order.count, rowIDs.count == current.count, Set(rowIDs) == Set(byID.keys) else {
            throw FieldText.Mistake(
                message: "The order must list the row ids of all \(current.count) targets, each once: "
                    + "\(current.prefix(10).map { "\($0.id.rowID)" }.joined(separator: " "))\(current.count > 10 ? " …" : "").")
        }
        guard rowIDs != current.map(\.id.rowID) else { return }
        try object.set(relationship.name, to: rowIDs.compactMap { byID[$0] })
    }

    /// Finds a target by its row id, with or without the name of its entity, or by the text that names it.
    private func target(_ text: String, of relationship: RelationshipDescription) throws -> DynamicObject {
        let entity = relationship.destination
        let digits = text.split(separator: " ").last.map(String.init) ?? text
        let isNumber = Int64(text.trimmingCharacters(in: .whitespaces)) != nil
        if let rowID = Int64(digits), isNumber || isEntity(text.dropLast(digits.count), of: entity) {
            guard rowID > 0, let object = try transaction.fetchExisting(store.stack.objectID(entity, rowID: rowID)) else {
                throw FieldText.Mistake(message: "There is no \(entity) \(rowID).")
            }
            return object
        }
        guard let label = try store.model(entity).label else {
            throw FieldText.Mistake(message: "\(FieldText.quoted(text)) is not the row id of a \(entity), whose objects have no names.")
        }
        let found = try transaction.fetchAll(EntityQuery(entity).where("\(label.asPath) == %@", text).limit(6))
        guard let first = found.first else {
            throw FieldText.Mistake(
                message: "There is no \(entity) whose \(label) is \(FieldText.quoted(text)). Enter its row id or its \(label).")
        }
        guard found.count == 1 else {
            let ids = found.prefix(5).map { "\($0.id.rowID)" }.joined(separator: ", ") + (found.count > 5 ? ", …" : "")
            throw FieldText.Mistake(
                message: "Several \(entity) have the \(label) \(FieldText.quoted(text)): enter one of the row ids \(ids).")
        }
        return first
    }

    private func isEntity(_ text: some StringProtocol, of entity: String) -> Bool {
        let name = text.trimmingCharacters(in: .whitespaces)
        return name == entity
            || store.entityNames.contains(name) && (try? store.model(name).root.name == store.model(entity).root.name) ?? false
    }
}
