import Foundation
import PolyStoreBackend
import PolyStoreCore
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStoreMemory
import PolyStoreSQLite
import TestModels
import TestSupport
import Testing

@Suite struct DataStackTests {
    private let split = Schema(
        "Split", [Person.self, Department.self, Project.self],
        configurations: ["A": [Person.self, Department.self, Project.self], "B": [Person.self, Department.self, Project.self]])

    @Test func aStackWithoutStoreThrowsStoreNotFound() throws {
        let stack = try DataStack(companySchema)
        let error = expectError(.storeNotFound) { try stack.performAndWait { _ = try $0.create(Into<Person>()) } }
        #expect(error?.message.contains("addStore") == true)
        expectError(.storeNotFound) { try stack.readAndWait { _ = try $0.fetchAll(From<Person>()) } }
    }

    @Test func theSameStoreTwiceIsOneStore() throws {
        let folder = try Folder()
        let stack = try DataStack(companySchema)
        let first = try stack.addStore(.sqlite(file: folder.path + "/a.sqlite"))
        let second = try stack.addStore(.sqlite(file: folder.path + "/a.sqlite"))
        #expect(first === second)
        #expect(stack.stores.count == 1)
    }

    /// Links and paths that lead to one file or folder are names of one store.
    @Test(arguments: Backend.persistent, ["hard link", "symbolic link", "path"])
    func twoNamesInOneStackAreOneStore(_ backend: Backend, _ name: String) throws {
        // Folders have no hard links.
        if backend == .levelDB, name == "hard link" { return }
        let folder = try Folder()
        let stack = try DataStack(companySchema)
        let first = try stack.addStore(backend.store(in: folder, "first"))
        try stack.performAndWait { try $0.create(Into<Person>()).email = "a" }
        let (path, other) = (first.location, folder.file("second.\(backend.rawValue)"))
        switch name {
        case "hard link": try FileManager.default.linkItem(atPath: path, toPath: other)
        case "symbolic link": try FileManager.default.createSymbolicLink(atPath: other, withDestinationPath: path)
        default: break
        }
        let second =
            name == "path" ? folder.file("./../\(URL(fileURLWithPath: folder.path).lastPathComponent)/first.\(backend.rawValue)") : other
        #expect(try stack.addStore(backend.store(at: second)) === first)
        #expect(stack.stores.count == 1)
        try stack.performAndWait { try $0.create(Into<Person>()).email = "b" }
        #expect(try stack.readAndWait { try $0.fetchAll(From<Person>()).map(\.email) } == ["a", "b"])
        // It cannot be that of another configuration, either.
        let configured = try DataStack(split)
        try stack.closeAndWait()
        if name == "hard link" { try FileManager.default.removeItem(atPath: path) }
        let file = folder.file("third.\(backend.rawValue)")
        try configured.addStore(backend.store(at: file), configuration: "A")
        try FileManager.default.createSymbolicLink(atPath: file + ".link", withDestinationPath: file)
        let error = expectError(.differentStoreAtURL) { try configured.addStore(backend.store(at: file + ".link"), configuration: "B") }
        #expect(error?.message.contains("\"A\"") == true)
    }

    @Test func oneFileForTwoConfigurationsIsRefused() throws {
        let folder = try Folder()
        let stack = try DataStack(split)
        try stack.addStore(.sqlite(file: folder.path + "/a.sqlite"), configuration: "A")
        let error = expectError(.differentStoreAtURL) { try stack.addStore(.sqlite(file: folder.path + "/a.sqlite"), configuration: "B") }
        #expect(error?.message.contains("\"A\"") == true)
        let unknown = expectError(.storeNotFound) { try stack.addStore(.inMemory(), configuration: "C") }
        #expect(unknown?.message.contains("\"C\"") == true)
        #expect(unknown?.message.contains("\"A\", \"B\"") == true)
        #expect(stack.stores.count == 1)
    }

    @Test func aStoreOfAnotherConfigurationIsRefusedAtOpen() throws {
        let folder = try Folder()
        do { try DataStack(split).addStore(.sqlite(file: folder.path + "/a.sqlite"), configuration: "A") }
        expectError(.differentStoreAtURL) { try DataStack(split).addStore(.sqlite(file: folder.path + "/a.sqlite"), configuration: "B") }
    }

    @Test func createInSeveralStoresNeedsAConfiguration() throws {
        let stack = try DataStack(split)
        try stack.addStore(.inMemory(), configuration: "A")
        try stack.addStore(.inMemory(), configuration: "B")
        let error = expectError(.ambiguousStore) { try stack.performAndWait { _ = try $0.create(Into<Person>()) } }
        #expect(error?.message.contains("\"A\", \"B\"") == true)
        expectError(.storeNotFound) { try stack.performAndWait { _ = try $0.create(Into<Person>(nil)) } }
        try stack.performAndWait { transaction throws in
            for (store, ages) in [("A", [1, 4, 6]), ("B", [2, 3, 5])] {
                for age in ages {
                    let person = try transaction.create(Into<Person>(store))
                    person.email = "\(store)\(age)"
                    person.age = age
                }
            }
        }
        try stack.readAndWait { context throws in
            #expect(try context.fetchAll(From<Person>().orderBy(.ascending(\.age))).map(\.age) == [1, 2, 3, 4, 5, 6])
            #expect(try context.fetchAll(From<Person>().orderBy(.descending(\.age)).limit(2).offset(1)).map(\.age) == [5, 4])
            #expect(try context.fetchAll(From<Person>("B").orderBy(.ascending(\.age))).map(\.age) == [2, 3, 5])
            #expect(try context.fetchCount(From<Person>("A", "B")) == 6)
            #expect(try context.fetchCount(From<Person>(), Where(\.age > 2), Tweak { $0.limit = 3 }) == 3)
            #expect(try context.fetchOne(From<Person>().where(\.age == 5))?.objectID.configuration == "B")
            expectError(.storeNotFound) { try context.fetchAll(From<Person>(nil)) }
        }
    }

    @Test func relationshipsAcrossStoresAreRefused() throws {
        let stack = try DataStack(split)
        try stack.addStore(.inMemory(), configuration: "A")
        try stack.addStore(.inMemory(), configuration: "B")
        let error = expectError(.misuse) {
            try stack.performAndWait { transaction throws in
                let person = try transaction.create(Into<Person>("A"))
                person.email = "x"
                person.department = try transaction.create(Into<Department>("B"))
            }
        }
        #expect(error?.attribute == "department")
        #expect(try stack.readAndWait { try $0.fetchCount(From<Person>()) } == 0)
    }

    @Test func objectsAndIdsSurviveReopening() throws {
        let folder = try Folder()
        let uri: String
        do {
            let stack = try DataStack(companySchema)
            try stack.addStore(.sqlite(file: folder.path + "/a.sqlite"))
            uri = try stack.performAndWait { transaction throws in
                let person = try transaction.create(Into<Person>())
                person.email = "jane@example.com"
                return person.objectID.uri
            }
        }
        let stack = try DataStack(companySchema)
        try stack.addStore(.sqlite(file: folder.path + "/a.sqlite"))
        let id = try #require(stack.objectID(uri, for: Person.self))
        #expect(try stack.readAndWait { try $0.fetchExisting(id)?.email } == "jane@example.com")
        #expect(stack.objectID(uri, for: Department.self) == nil)
        #expect(stack.objectID("polystore://nowhere/Person/1", for: Person.self) == nil)
    }

    @Test func anotherModelIsRefusedWithTheDifferences() throws {
        let folder = try Folder()
        do { try DataStack(companySchema).addStore(.sqlite(file: folder.path + "/a.sqlite")) }
        let smaller = Schema("Company 2", [Plain.self])
        let error = expectError(.migrationRequired) { try DataStack(smaller).addStore(.sqlite(file: folder.path + "/a.sqlite")) }
        #expect(error?.message.contains("entity Person is gone") == true)
        #expect(error?.message.contains("entity Plain is new") == true)
        try DataStack(companySchema).addStore(.sqlite(file: folder.path + "/a.sqlite"))
        try DataStack(smaller).addStore(.sqlite(file: folder.path + "/a.sqlite").resettingOnModelMismatch())
    }

    /// Every migrating function but the two that add a store refuses the policy, so that nothing is lost by looking.
    @Test(arguments: Backend.persistent)
    func aStoreOfAnotherModelIsErasedByThePolicyOnly(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        func people() async throws -> Int {
            let stack = try DataStack(companySchema)
            try await stack.addStore(store, migrating: .eraseOnMismatch)
            let count = try await stack.read { try $0.fetchCount(From<Person>()) }
            try await stack.perform { try $0.create(Into<Person>()).email = "\(count)" }
            try await stack.close()
            return count
        }
        #expect(try await people() == 0)
        #expect(try await people() == 1)
        let smaller = try DataStack(Schema("Company 2", [Plain.self]))
        await #expect(throws: StoreError.self) { try await smaller.upgradeStoreIfNeeded(store, migrating: .eraseOnMismatch) }
        await #expect(throws: StoreError.self) { try await smaller.rehearseMigration(of: store, migrating: .eraseOnMismatch) }
        await #expect(throws: StoreError.self) { try await smaller.requiredMigrations(for: store, migrating: .eraseOnMismatch) }
        let copy = folder.path + "/copy"
        await #expect(throws: StoreError.self) { try await smaller.addStore(store, migrating: .eraseOnMismatch.keepingCopy(at: copy)) }
        #expect(try await people() == 2)
        try await smaller.addStore(store, migrating: .eraseOnMismatch)
        #expect(try await smaller.read { try $0.fetchCount(From<Plain>()) } == 0)
        try await smaller.close()
        #expect(try await people() == 0)
    }

    @Test(arguments: [true, false]) func aReadOnlyStoreCanBeReadAndNotWritten(byOption: Bool) throws {
        let folder = try Folder()
        do {
            let stack = try DataStack(companySchema)
            try stack.addStore(.sqlite(file: folder.path + "/a.sqlite"))
            try stack.performAndWait { try $0.create(Into<Person>()).email = "x" }
        }
        let stack = try DataStack(companySchema)
        let path = folder.path + "/a.sqlite"
        try stack.addStore(byOption ? .sqlite(file: path, options: SQLiteOptions(isReadOnly: true)) : .sqlite(file: path).readOnly())
        #expect(try stack.readAndWait { try $0.fetchCount(From<Person>()) } == 1)
        #expect(try stack.performAndWait { try $0.fetchCount(From<Person>()) } == 1)
        expectError(.readOnly) { try stack.performAndWait { try $0.create(Into<Person>()).email = "y" } }
        expectError(.readOnly) { try stack.performAndWait { try $0.fetchAll(From<Person>())[0].age = 4 } }
    }

    @Test func mergedSchemasHoldEveryPart() throws {
        let merged = Schema("All", merging: [Schema("One", Person.self, Department.self), Schema("Two", Department.self, Project.self)])
        #expect(merged.versionHash == companySchema.versionHash)
    }

    @Test func aWrongSchemaIsRefusedBeforeAnyStore() throws {
        let error = expectError(.invalidSchema) { try DataStack(Schema("Half", Person.self)) }
        #expect(error?.message.contains("Dept") == true)
    }
}

@Suite struct StoresByURL {
    private static let engines = StoreEngines([.sqlite, .lmdb, .levelDB, .memory])

    @Test(arguments: [
        "sqlite:FOLDER/a?pageSize=8k", "lmdb:FOLDER/a?mapSize=64m&durability=relaxed", "leveldb:FOLDER/a?cacheSize=1m", "memory:",
    ])
    func aStoreIsChosenByItsURL(_ pattern: String) throws {
        let folder = try Folder()
        let stack = try DataStack(companySchema)
        let store = try stack.addStore(url: pattern.replacingOccurrences(of: "FOLDER", with: folder.path), engines: Self.engines)
        #expect(pattern.hasPrefix(store.configuration.engine + ":"))
        try stack.performAndWait { try $0.create(Into<Person>()).email = "a" }
        #expect(try stack.readAndWait { try $0.fetchCount(From<Person>()) } == 1)
    }

    @Test func twoNamesOfOnePlaceAreOneStore() throws {
        let folder = try Folder()
        let stack = try DataStack(companySchema)
        let first = try stack.addStore(url: "lmdb:\(folder.path)/a", engines: Self.engines)
        #expect(
            try stack.addStore(url: "lmdb://\(folder.path)/../\(folder.path.split(separator: "/").last ?? "")/a", engines: Self.engines)
                === first)
    }

    @Test func anUnknownEngineIsNamedInTheError() throws {
        let stack = try DataStack(companySchema)
        let error = expectError(.unsupported) { try stack.addStore(url: "oracle:x", engines: Self.engines) }
        #expect(error?.message.contains("leveldb, lmdb, memory, sqlite") ?? false)
    }
}
