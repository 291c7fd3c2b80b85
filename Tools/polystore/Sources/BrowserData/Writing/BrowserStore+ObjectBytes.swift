import PolyStoreBackend
import PolyStoreCore
import PolyStoreFormats

extension BrowserStore {
    /// Returns one object as bytes: its values, and the ids of its targets. As CSV it is a row for each property. Nil if the object does not exist.
    ///
    /// A to-many relationship has the number of its targets, and their ids if there are at most 10,000.
    /// - Throws: `storeNotFound` for an unknown entity, and the errors of the store.
    package func bytes(of object: ObjectReference, as format: AnswerFormat) async throws -> [UInt8]? {
        let id = try stack.objectID(model(object.entity).name, rowID: object.rowID)
        return try await reading { [self] context in
            guard let object = try context.fetchExisting(id) else { return nil }
            let model = try model(object.entityName)
            let members = try FormReader(store: self, context: context).members(of: object, model, limit: Self.idLimit)
            let properties = try model.properties.map { ($0.name, try Self.json($0, of: object, members[$0.name])) }
            let sink = MemoryByteSink()
            guard format == .csv else {
                let fields: [(String, JSONValue)] = [
                    ("entity", JSONValue(object.entityName)), ("id", JSONValue(object.id.rowID)),
                    ("properties", JSONValue(JSONObject(properties))),
                ]
                return Array("\(JSONValue(JSONObject(fields)))\n".utf8)
            }
            let writer = try RecordWriter(to: sink, format: .csv, columns: ["property", "value"])
            for (name, value) in properties { try writer.write(JSONObject([("property", JSONValue(name)), ("value", value)])) }
            try writer.finish()
            return sink.bytes
        }
    }

    /// The greatest number of targets of a to-many relationship whose ids are written.
    private static let idLimit = 10_000

    private static func json(_ property: PropertyDescription, of object: DynamicObject, _ members: FormReader.Members?) throws -> JSONValue
    {
        switch property {
        case .attribute(let attribute): return JSONValue(try object.value(attribute.name), attribute.type)
        case .relationship(let relationship) where relationship.isToMany:
            let ids = members?.targets?.map { JSONValue($0.id.rowID) }
            return JSONValue(JSONObject([("count", JSONValue(members?.count ?? 0)), ("ids", ids.map { JSONValue($0) } ?? .null)]))
        case .relationship(let relationship): return try object.object(relationship.name).map { JSONValue($0.id.rowID) } ?? .null
        }
    }
}
