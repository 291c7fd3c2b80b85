import Foundation
import PolyStoreBackend
import PolyStoreCore

/// Reads the names of objects, and the texts of their values.
struct NameReader {
    /// The greatest number of characters of a name, and of the text of a value.
    private static let (nameLimit, textLimit) = (200, 1_000)
    /// The greatest number of targets that the text of a relationship names.
    static let targetLimit = 20

    let store: BrowserStore
    let context: Context

    /// Returns the names of an object.
    func named(_ object: DynamicObject) throws -> NamedObject {
        let entity = object.entityName
        let label = try store.model(entity).label
        // An object of a hierarchy need not have the attribute that names others.
        let name = try label.flatMap { object.propertyNames.contains($0) ? try object.value($0)?.string : nil }
        let reference = object.isInserted ? nil : ObjectReference(entity: entity, rowID: object.id.rowID)
        return NamedObject(reference: reference, entity: entity, name: name.map { Self.cut($0, Self.nameLimit) })
    }

    /// Returns the names of the object with an id; without one if the object does not exist any more.
    func named(_ id: AnyObjectID) throws -> NamedObject {
        if let object = try context.fetchExisting(id) { return try named(object) }
        return NamedObject(reference: ObjectReference(entity: id.entityName, rowID: id.rowID), entity: id.entityName, name: nil)
    }

    /// Returns the text of a value of a property, for a reader; nil for null.
    func text(_ value: QueryValue?, _ property: PropertyDescription?) throws -> String? {
        switch (value, property) {
        case (nil, _): return nil
        case (.objectID(let id)?, _): return try named(id).title
        case (.data(let data)?, _) where data.count > 32: return "<\(data.count) bytes>"
        case (let value?, .attribute(let attribute)?): return Self.cut(FieldText(attribute.type).text(value).text, Self.textLimit)
        case (let value?, _): return "\(value)"
        }
    }

    /// Returns the names of targets as one text.
    func text(_ ids: [AnyObjectID]) throws -> String {
        let names = try ids.prefix(Self.targetLimit).map { try named($0).title }
        return names.joined(separator: ", ") + (ids.count > names.count ? ", … (\(ids.count))" : "")
    }

    private static func cut(_ text: String, _ count: Int) -> String {
        let cut = text.prefix(count)
        return cut.endIndex < text.endIndex ? cut + "…" : text
    }
}
