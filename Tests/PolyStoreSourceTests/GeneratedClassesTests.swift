import PolyStore
import PolyStoreBackend
import PolyStoreMemory
import Testing

/// The compiled classes have the schema that they were generated from.
@Suite struct GeneratedClassesTests {
    @Test(arguments: GeneratedModels.all)
    func compiledClassesHaveTheSchema(_ models: GeneratedModels) throws {
        let schema = try #require(Self.compiled[models.namespace])
        let stack = try DataStack(schema)
        try expectSameSchema(stack.addStore(.inMemory()).schema.description, models.schema)
    }

    static let compiled: [String: Schema] = [
        "Types": Types.schema, "Library": Library.schema, "Fleet": Fleet.schema, "OddNames": OddNames.schema, "Chinook": Chinook.schema,
        "Northwind": Northwind.schema, "BuildResults": BuildResults.schema,
    ]
}

/// Compares two schemas, with one value for each default that is an expression.
func expectSameSchema(_ found: SchemaDescription, _ expected: SchemaDescription, _ location: SourceLocation = #_sourceLocation) throws {
    #expect(found.name == expected.name, sourceLocation: location)
    #expect(found.entities.map(\.name) == expected.entities.map(\.name), sourceLocation: location)
    for (found, expected) in zip(found.entities.map(\.withoutComputedValues), expected.entities.map(\.withoutComputedValues)) {
        for (property, other) in zip(found.properties, expected.properties) { #expect(property == other, sourceLocation: location) }
        #expect(found == expected, sourceLocation: location)
    }
}
