import Foundation
import PolyStore
import PolyStoreBackend
import PolyStoreSQLite

// Writes the stores that the tests of the browser open: browser-stores FOLDER

/// Creates a store without classes, and fills it in one transaction.
func makeStore(_ path: String, _ schema: SchemaDescription, _ fill: @Sendable (Transaction) throws -> Void) throws {
    let engines = StoreEngines([.sqlite])
    try engines.configuration("sqlite:\(path)").open(schema: ResolvedSchema(schema), configurationName: nil, logger: SilentLogger()).close()
    let stack = try DataStack(
        opening: "sqlite:\(path)", engines: engines, forWriting: true, history: HistoryOptions(recordsPreviousValues: true),
        logger: SilentLogger())
    try stack.performAndWait { try fill($0) }
    try stack.closeAndWait()
}

func attribute(
    _ name: String, _ type: AttributeType, optional: Bool = true, unique: Bool = false, indexed: Bool = false, rules: [AttributeRule] = []
) -> PropertyDescription {
    .attribute(AttributeDescription(name: name, type: type, isOptional: optional, isUnique: unique, isIndexed: indexed, rules: rules))
}

func relationship(
    _ name: String, _ destination: String, many: Bool = false, ordered: Bool = false, inverse: String? = nil, rule: DeleteRule = .nullify,
    required: Bool = false
) -> PropertyDescription {
    .relationship(
        RelationshipDescription(
            name: name, destination: destination, isToMany: many, isOrdered: ordered, inverse: inverse, deleteRule: rule,
            isRequired: required))
}

guard CommandLine.arguments.count == 2 else {
    FileHandle.standardError.write(Data("usage: browser-stores FOLDER\n".utf8))
    exit(2)
}
let folder = CommandLine.arguments[1]
try makeStore("\(folder)/library.db", Library.schema, Library.fill)
try makeStore("\(folder)/hostile.db", Hostile.schema, Hostile.fill)
try makeStore("\(folder)/many.db", Many.schema, Many.fill)
try makeStore("\(folder)/empty.db", SchemaDescription(name: "Empty 1", entities: [])) { _ in }
