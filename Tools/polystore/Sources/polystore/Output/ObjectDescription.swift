import PolyStoreBackend
import PolyStoreCore
import PolyStoreFormats

/// An object with its values, and the names of the objects that it is related to.
struct ObjectDescription {
    private let object: DynamicObject
    private let schema: SchemaDescription
    /// The greatest number of objects of each to-many relationship.
    private let related: Int

    init(_ object: DynamicObject, in schema: SchemaDescription, related: Int) {
        (self.object, self.schema, self.related) = (object, schema, related)
    }

    /// Writes the object.
    func write(_ output: OutputOptions) throws {
        let entity = schema.entities.first { $0.name == object.id.entityName }
        let properties = try object.propertyNames.compactMap { name in
            try entity?.properties.first { $0.name == name }.map { (name: name, cell: try cell($0)) }
        }
        switch output.format {
        case .json, .jsonl:
            var fields: [(String, JSONValue)] = [("entity", JSONValue(object.entityName)), ("objectID", JSONValue(object.id.rowID))]
            fields.append(("properties", JSONValue(JSONObject(properties.map { ($0.name, $0.cell.json) }))))
            try StandardOutput.shared.write("\(JSONValue(JSONObject(fields)))\n")
        case .table: try writeText(properties, width: output.width ?? StandardStreams.outputWidth ?? 0)
        case .csv:
            let rows = try output.rows(["property", "value"])
            for property in properties { try rows.write([Cell(property.name), property.cell]) }
            try rows.finish()
        }
    }

    private func writeText(_ properties: [(name: String, cell: Cell)], width: Int) throws {
        try StandardOutput.shared.write("\(object.entityName) \(object.id.rowID)\n")
        let names = properties.map { DisplayText($0.name) }
        let column = names.map(\.width).max() ?? 0
        for (name, property) in zip(names, properties) {
            let value = DisplayText(property.cell.text)
            let text = width > 0 ? value.cut(to: max(10, width - column - 4)) : value.text
            try StandardOutput.shared.write("  \(name.filled(to: column, isRightAligned: false))  \(text)\n")
        }
    }

    private func cell(_ property: PropertyDescription) throws -> Cell {
        switch property {
        case .attribute(let attribute): return Cell(try object.value(attribute.name), attribute.type)
        case .relationship(let relationship) where relationship.isToMany:
            let targets = try object.objects(relationship.name)
            let shown = try targets.prefix(related).map(reference)
            let json = JSONObject([("count", JSONValue(targets.count)), ("objects", JSONValue(shown.map(\.json)))])
            var text = "\(targets.count)"
            if !shown.isEmpty {
                text += ": " + shown.map(\.text).joined(separator: ", ")
                if targets.count > shown.count { text += ", …" }
            }
            return Cell(json: JSONValue(json), text: text)
        case .relationship(let relationship): return try object.object(relationship.name).map(reference) ?? .null
        }
    }

    /// Returns the name of an object and its id.
    private func reference(_ target: DynamicObject) throws -> Cell {
        let label = schema.entities.first { $0.name == target.id.entityName }.flatMap { EntityProperties($0, in: schema).label }
        let isKnown = label.map { target.propertyNames.contains($0) } ?? false
        let name = try isKnown ? label.flatMap { try target.value($0)?.string } : nil
        var json = JSONObject([("entity", JSONValue(target.entityName)), ("objectID", JSONValue(target.id.rowID))])
        if let name { json["name"] = JSONValue(name) }
        let id = "\(target.entityName) \(target.id.rowID)"
        return Cell(json: JSONValue(json), text: name.flatMap { $0.isEmpty ? nil : "\($0) (\(id))" } ?? id)
    }
}
