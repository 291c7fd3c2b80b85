import Foundation
import PolyStore
import PolyStoreBackend
import PolyStoreSQLite
import TestSupport
import Testing

/// CoreStore's README, "Migrations": progressive migrations, progress, forecasts.
@Suite struct CoreStoreMigrationTests {
    /// The current version in the reference's documentation.
    @Model(entity: "Employee")
    final class Employee {
        var name: String = ""
        var age: Int = 0
        var email: String?
    }

    private static let current = Schema("MyAppModelV4", Employee.self)

    /// Returns a version with fewer attributes.
    private static func version(_ name: String, _ attributes: [String]) -> LockedSchema {
        var entity = current.locked.entities[0]
        entity.properties.removeAll { !attributes.contains($0.name) }
        return LockedSchema(name, entities: [entity])
    }

    private static let v1 = version("MyAppModel", ["name"])
    private static let v2 = version("MyAppModelV2", ["name", "email"])
    private static let v3 = version("MyAppModelV3", ["name", "age"])

    private func withStore(_ version: LockedSchema, _ body: (StoreConfiguration) async throws -> Void) async throws {
        let folder = try Folder()
        let store = Backend.sqlite.store(in: folder, "MyStore")
        let schema = try ResolvedSchema(version.description(ofConfiguration: nil))
        let backend = try store.open(schema: schema, configurationName: nil, logger: SilentLogger())
        let writer = try backend.beginWrite()
        let changes = ChangeSet(schema)
        let entity = schema.entities[0]
        _ = try writer.reserveIDs(entity, count: 3)
        for id in 1...Int64(3) {
            try changes.insert(entity, rowID: id) { builder in
                for field in entity.fields where !field.isOptional {
                    try builder.set(field, field.type == .string ? .text("Name \(id)") : .integer(30 + id))
                }
            }
        }
        try writer.apply(changes)
        _ = try writer.commit(.full)
        try backend.close()
        try await body(store)
    }

    private func stack(_ chain: MigrationChain) throws -> DataStack {
        try DataStack(SchemaHistory(Self.v1, Self.v2, Self.v3, Self.current, migrationChain: chain), logger: SilentLogger())
    }

    @Test("opening and waiting does not migrate: a mismatch is an error")
    func waiting() async throws {
        try await withStore(Self.v1) { store in
            let error = #expect(throws: StoreError.self) { try stack(nil).addStore(store) }
            #expect(error?.code == .migrationRequired)
            #expect(error?.message.contains("Employee.age is new") ?? false)
            #expect(error?.storedSchema?.name == "MyAppModel")
        }
    }

    @Test("the version names in increasing order")
    func array() async throws {
        try await withStore(Self.v1) { store in
            let stack = try stack(["MyAppModel", "MyAppModelV2", "MyAppModelV3", "MyAppModelV4"])
            let run = stack.startAddingStore(store, migrating: .chain)
            var texts: [String] = []
            for await progress in run.updates { texts.append(progress.description) }
            let added = try await run.value
            #expect(added.url == store.url)
            #expect(run.progress.fractionCompleted == 1)
            #expect(run.progress.localizedDescription.contains("MyStore.sqlite"))
            #expect(texts.last == "Finished")
            #expect(run.report?.steps.map(\.type.destinationVersion) == ["MyAppModelV2", "MyAppModelV3", "MyAppModelV4"])
            #expect(try stack.readAndWait { try $0.fetchCount(From<Employee>(), Where(\.name == "Name 2")) } == 1)
        }
    }

    @Test("a version tree allows different paths, depending on the first version")
    func tree() async throws {
        let chain: MigrationChain = ["MyAppModel": "MyAppModelV3", "MyAppModelV2": "MyAppModelV4", "MyAppModelV3": "MyAppModelV4"]
        for (version, path) in [
            (Self.v1, ["MyAppModelV3", "MyAppModelV4"]), (Self.v2, ["MyAppModelV4"]), (Self.v3, ["MyAppModelV4"]),
        ] {
            try await withStore(version) { store in
                let report = try await stack(chain).upgradeStoreIfNeeded(store)
                #expect(report.steps.map(\.type.destinationVersion) == path)
                let again = try await stack(chain).upgradeStoreIfNeeded(store)
                #expect(again.steps.isEmpty)
            }
        }
    }

    @Test("without a chain the store is migrated in one step")
    func noChain() async throws {
        try await withStore(Self.v1) { store in
            let stack = try stack(nil)
            #expect(
                try stack.requiredMigrationsAndWait(for: store)
                    == [.lightweight(sourceVersion: "MyAppModel", destinationVersion: "MyAppModelV4")])
            try await stack.addStore(store, migrating: .chain)
        }
    }

    @Test("forecasting migrations")
    func forecast() async throws {
        try await withStore(Self.v1) { store in
            let stack = try stack(["MyAppModel", "MyAppModelV3", "MyAppModelV4"])
            let migrationTypes = try stack.requiredMigrationsAndWait(for: store)
            #expect(migrationTypes.count == 2)
            #expect(migrationTypes.filter { $0.isHeavyweightMigration }.isEmpty)
            #expect(migrationTypes.first?.sourceVersion == "MyAppModel")
            try await stack.addStore(store, migrating: .chain)
            #expect(try stack.requiredMigrationsAndWait(for: store).isEmpty)
        }
    }
}
