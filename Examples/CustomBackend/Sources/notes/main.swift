// Stores notes with the storage contract alone, without the object layer and macros. Each run adds one and counts them.
import FileStore
import PolyStoreBackend

let note = EntityDescription(
    name: "Note",
    properties: [
        .attribute(AttributeDescription(name: "text", type: .string)),
        .attribute(AttributeDescription(name: "length", type: .int64, isIndexed: true)),
    ])
let schema = try ResolvedSchema(SchemaDescription(name: "Notes", entities: [note]))
let store = try StoreConfiguration.fileStore(file: CommandLine.arguments.count > 1 ? CommandLine.arguments[1] : "notes.filestore")
    .open(schema: schema, configurationName: nil, logger: StandardErrorLogger())
defer { try? store.close() }

let entity = schema.entities[0]
let text = CommandLine.arguments.count > 2 ? CommandLine.arguments[2] : "Bread, milk"

let writing = try store.beginWrite()
let changes = ChangeSet(schema)
let id = try writing.reserveIDs(entity, count: 1)
try changes.insert(entity, rowID: id) { record in
    try record.set(entity.fields[0], .text(text))
    try record.set(entity.fields[1], .integer(Int64(text.utf8.count)))
}
try writing.apply(changes)
let version = try writing.commit(.full)

let reading = try store.beginRead()
let long = FetchRequest(entity, predicate: .compare(FieldReference(entity.fields[1]), .greaterOrEqual, .integer(5)))
print("version \(version): note \(id), \(try reading.count(FetchRequest(entity))) notes, \(try reading.count(long)) of 5 bytes or more")
print(try reading.explain(long))
reading.end()
