import Foundation
import PolyStore
import PolyStoreBackend
import TestSupport
import Testing

@Model
final class Parcel {
    @Attribute(.unique) var code: String = ""
    var weight: Int
}

/// Rehearsals of chains, whose later steps read what the earlier ones have written.
@Suite
struct RehearsalTests {
    private static let rows = 300

    /// A version with parcels. Each differs from the one that the class describes, to which nothing has to be migrated.
    private static func version(_ number: Int, isUnique: Bool = true, isOptional: Bool = false, _ texts: [String] = []) -> LockedSchema {
        var properties: [PropertyDescription] = [
            .attribute(AttributeDescription(name: "code", type: .string, isUnique: isUnique, defaultValue: .text(""))),
            .attribute(AttributeDescription(name: "weight", type: .int64, isOptional: isOptional, defaultValue: nil)),
        ]
        properties += texts.map { .attribute(AttributeDescription(name: $0, type: .string, isOptional: true)) }
        return LockedSchema("V\(number)", entities: [EntityDescription(name: "Parcel", properties: properties)])
    }

    /// What a chain of three steps does to the objects, and what the rehearsal finds.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let versions: [LockedSchema]
        var mappings: [SchemaMapping] = []
        /// Kind, step, property, count and first row ids.
        let findings: [String]
        var rehearsed = [true, true, true]
    }

    private static func finding(_ kind: MigrationReport.Finding.Kind, _ step: Int, _ property: String, _ ids: [Int64]) -> String {
        "\(kind) \(step) \(property) \(ids.count) \(ids.prefix(20))"
    }

    private static let all = (1...Int64(rows)).map { $0 }
    private static let sevenths = all.filter { $0 % 7 == 0 }

    /// Assigns the same code to the parcels of a row id that is divisible by 7, in the step before a version.
    private static func doubling(_ version: Int) -> SchemaMapping {
        SchemaMapping(
            from: "V\(version - 1)", to: "V\(version)",
            [.update("Parcel") { old, new in if old.rowID % 7 == 0 { new["code"] = "same" } }])
    }

    /// Removes the weight of the same parcels.
    private static func clearing(_ version: Int) -> SchemaMapping {
        SchemaMapping(
            from: "V\(version - 1)", to: "V\(version)",
            [.update("Parcel") { old, new in if old.rowID % 7 == 0 { new["weight"] = nil } }])
    }

    private static let cases = [
        Case(
            testDescription: "the second and the third step lose values",
            versions: [version(1, ["note", "colour"]), version(2, ["note", "colour", "size"]), version(3, ["colour", "size"])],
            mappings: [
                SchemaMapping(from: "V1", to: "V2", [.update("Parcel") { old, new in if old.rowID % 7 == 0 { new["size"] = "big" } }])
            ],
            findings: [finding(.lost, 1, "note", all), finding(.lost, 2, "colour", all), finding(.lost, 2, "size", sevenths)]),
        Case(
            testDescription: "the first step doubles values, and the third refuses them",
            versions: [
                version(1, isUnique: false, ["note"]), version(2, isUnique: false, ["note", "size"]), version(3, isUnique: false, ["size"]),
            ],
            mappings: [doubling(2)],
            findings: [finding(.lost, 1, "note", all), finding(.duplicate, 2, "code", Array(sevenths.dropFirst()))]),
        Case(
            testDescription: "the first step doubles values, and the second refuses them",
            versions: [version(1, isUnique: false), version(2, isUnique: false, ["size"]), version(3, ["size"])],
            mappings: [doubling(2)],
            findings: [finding(.duplicate, 1, "code", Array(sevenths.dropFirst()))], rehearsed: [true, true, false]),
        Case(
            testDescription: "the second step clears values that the third requires",
            versions: [version(1, ["note"]), version(2, isOptional: true), version(3, isOptional: true, ["size"])],
            mappings: [clearing(3)], findings: [finding(.lost, 0, "note", all), finding(.refused, 2, "weight", sevenths)]),
        Case(
            testDescription: "the mapping of the third step breaks a rule",
            versions: [version(1, ["size"]), version(2, ["tint"]), version(3, ["note"])],
            mappings: [SchemaMapping(from: "V3", to: "V4", [.update("Parcel") { _, new in new["code"] = "same" }])],
            findings: [finding(.lost, 0, "size", all), "refused 2 code 1 [2]"]),
    ]

    @Test("every step of a chain is examined, and nothing is changed", arguments: Backend.persistent, cases)
    func chains(_ backend: Backend, _ example: Case) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        let old = try ResolvedSchema(SchemaDescription(name: "V1", entities: example.versions[0].entities))
        let before = try store.fillParcels(old, Self.rows)
        let current: [any SchemaVersion] = [Schema("V4", Parcel.self)]
        let history = SchemaHistory(
            current + example.versions, migrationChain: ["V1", "V2", "V3", "V4"], mappings: example.mappings)
        let stack = try DataStack(history, logger: SilentLogger())
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        let report = try await stack.rehearseMigration(of: store)
        #expect(
            report.findings.map { "\($0.kind) \($0.step) \($0.property ?? "-") \($0.count) \($0.rowIDs)" } == example.findings, "\(report)")
        #expect(report.steps.map(\.isRehearsed) == example.rehearsed)
        #expect(try store.contents(old).differences(from: before) == [])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == files)
        // The migration does what the rehearsal has shown.
        if report.isPossible {
            try await stack.addStore(store, migrating: .chain)
        } else {
            await #expect(throws: StoreError.self) { try await stack.addStore(store, migrating: .chain) }
        }
    }
}

extension StoreConfiguration {
    /// Fills a store with parcels of different codes; every text has a value.
    fileprivate func fillParcels(_ schema: ResolvedSchema, _ count: Int) throws -> StoreContents {
        let backend = try open(schema: schema, configurationName: nil, logger: SilentLogger())
        defer { try? backend.close() }
        let writer = try backend.beginWrite()
        let changes = ChangeSet(schema)
        let entity = schema.entities[0]
        let first = try writer.reserveIDs(entity, count: count)
        for row in 0..<count {
            try changes.insert(entity, rowID: first + Int64(row)) { builder in
                for field in entity.fields {
                    try builder.set(field, field.type == .string ? .text("\(field.name) \(row)") : .integer(Int64(row)))
                }
            }
        }
        try writer.apply(changes)
        _ = try writer.commit(.relaxed)
        return try StoreContents(backend, schema)
    }
}
