import BrowserData
import Foundation
import PolyStoreBackend

/// A schema for reading: the entities with their properties, one a line.
struct SchemaText {
    private let schema: SchemaDescription

    init(_ schema: SchemaDescription) { self.schema = schema }

    /// The text; it ends with a line break.
    var text: String {
        let title = schema.name.isEmpty ? [] : ["Schema \(DisplayText(schema.name).text)"]
        return (title + schema.entities.map(entity)).joined(separator: "\n\n") + "\n"
    }

    private func entity(_ entity: EntityDescription) -> String {
        let hierarchy = entity.hierarchy
        let own = entity.properties.filter { hierarchy?.properties.contains($0.name) ?? true }
        var parts = [DisplayText(entity.name).text + (hierarchy?.isAbstract ?? false ? " (abstract)" : "")]
        parts += lines(own, of: entity, required: nil)
        parts += entity.indexes.map { index in
            let names = index.parts.map { ([$0.field] + ($0.json?.keys ?? [])).joined(separator: ".") }
            return "  \(index.isUnique ? "unique" : "index") (\(names.joined(separator: ", ")))"
        }
        parts += entity.searchIndexes.map { index in
            let name = index.name.isEmpty ? "" : " \(DisplayText(index.name).text)"
            let stemming = index.options.stemming == .none ? "" : ", \(index.options.stemming.rawValue) stemming"
            return "  full-text index\(name) (\(index.fields.joined(separator: ", ")))\(stemming)"
        }
        for subentity in hierarchy?.subentities ?? [] {
            parts.append("")
            parts.append("\(DisplayText(subentity.name).text): \(subentity.parent)" + (subentity.isAbstract ? " (abstract)" : ""))
            parts += lines(entity.properties.filter { subentity.properties.contains($0.name) }, of: entity, required: subentity.required)
        }
        return parts.joined(separator: "\n")
    }

    /// - Parameter required: The properties that a subentity requires, although the combined entity does not; nil for the root.
    private func lines(_ properties: [PropertyDescription], of entity: EntityDescription, required: [String]?) -> [String] {
        let names = properties.map { DisplayText($0.name) }
        let column = names.map(\.width).max() ?? 0
        return zip(names, properties).map { name, property in
            let isRequired = required?.contains(property.name) ?? false
            let description =
                switch property {
                case .attribute(let attribute): Self.attribute(attribute, isRequired)
                case .relationship(let relationship): self.relationship(relationship, of: entity, isRequired)
                }
            return "  \(name.filled(to: column, isRightAligned: false))  \(description)"
        }
    }

    private static func attribute(_ attribute: AttributeDescription, _ isRequired: Bool) -> String {
        var text = attribute.type.rawValue + (attribute.isOptional && !isRequired ? "?" : "")
        switch attribute.defaultExpression {
        case .uuid?: text += " = UUID()"
        case .date?: text += " = Date()"
        case .computed?: text += " = …"
        case nil: if let value = attribute.defaultValue.flatMap({ self.value($0, attribute.type) }) { text += " = \(value)" }
        }
        if attribute.isUnique { text += ", unique" } else if attribute.isIndexed { text += ", indexed" }
        for rule in attribute.rules {
            let isLength = [.string, .url, .data].contains(attribute.type) && !"\(rule)".hasPrefix("\"")
            text += ", \(isLength ? "length " : "")\(DisplayText("\(rule)").text)"
        }
        return text
    }

    private static func value(_ value: Value, _ type: AttributeType) -> String? {
        switch (value, type) {
        case (.null, _): nil
        case (.integer(let integer), .bool): "\(integer != 0)"
        case (.integer(let integer), .uint64): "\(UInt64(bitPattern: integer))"
        case (.integer(let integer), _): "\(integer)"
        case (.real(let real), .date): Cell(.date(Date(timeIntervalSinceReferenceDate: real))).text
        case (.real(let real), .float): "\(Float(real))"
        case (.real(let real), _): "\(real)"
        case (.text(let text), _): "\"\(DisplayText(text).text)\""
        case (.blob, .decimal): "a decimal"
        case (.blob(let bytes), .uuid) where bytes.count == 16:
            UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }).uuidString
        case (.blob(let bytes), _): "<\(bytes.count) bytes>"
        }
    }

    private func relationship(_ relationship: RelationshipDescription, of entity: EntityDescription, _ isRequired: Bool) -> String {
        let target = schema.target(of: relationship, from: entity.name)
        var text = relationship.isToMany ? "[\(target)]" : target
        if !relationship.isToMany, !relationship.isRequired, !isRequired { text += "?" }
        if relationship.isOrdered { text += ", ordered" }
        if let inverse = schema.inverse(of: relationship, from: entity.name) { text += ", inverse \(inverse.name)" }
        if relationship.deleteRule != .nullify { text += ", on delete \(relationship.deleteRule.rawValue)" }
        switch (relationship.minCount, relationship.maxCount) {
        case (0, nil): break
        case (let least, nil): text += ", \(least)... objects"
        case (let least, let most?): text += ", \(least)...\(most) objects"
        }
        return text
    }
}
