import Foundation
import PolyStore
import PolyStoreBackend
import PolyStoreTables
import TestSupport
import Testing

/// The generated classes that this target compiles are those that the generator writes now.
@Suite struct ModelSourceTests {
    @Test(arguments: GeneratedModels.all)
    func checkedInClassesAreCurrent(_ models: GeneratedModels) throws {
        let source = try models.source.text
        if ProcessInfo.processInfo.environment["POLYSTORE_WRITE_GENERATED_MODELS"] == "1" {
            try (GeneratedModels.heading + source).write(to: models.file, atomically: true, encoding: .utf8)
        }
        let checkedIn = try String(contentsOf: models.file, encoding: .utf8)
        #expect(
            checkedIn == GeneratedModels.heading + source,
            "Run this test with POLYSTORE_WRITE_GENERATED_MODELS=1, and commit the difference.")
    }
}

/// A schema whose classes are checked in.
struct GeneratedModels: Sendable, CustomTestStringConvertible {
    let schema: SchemaDescription
    let namespace: String

    static let all = TestSchemas.all.map { GeneratedModels(schema: $0.schema, namespace: $0.namespace) } + ofDatabases

    /// Databases that are not stores, by the namespace of their classes.
    static let databases = [
        "Chinook": ChinookDatabase.statements, "Northwind": NorthwindDatabase.statements, "BuildDatabase": BuildDatabase.statements,
    ]

    private static let ofDatabases = databases.sorted { $0.key < $1.key }.compactMap { name, statements -> GeneratedModels? in
        guard let folder = try? Folder(), (try? ForeignDatabase(folder.file(), statements)) != nil,
            let tables = try? SQLiteTables(path: folder.file(), name: name)
        else { return nil }
        return GeneratedModels(schema: tables.schema, namespace: name == "BuildDatabase" ? "BuildResults" : name)
    }
    static let heading = "// swift-format-ignore-file\n"

    var source: ModelSource { get throws { try ModelSource(schema, options: ModelSource.Options(namespace: namespace)) } }
    var file: URL { URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Generated/\(namespace).swift") }
    var testDescription: String { namespace }
}
