import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Errors name a store in one form, whichever layer throws them.
@Suite struct ErrorLocationTests {
    /// An operation that fails, and the store whose location its error names.
    struct Failure: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var needsFile = false
        var needsReadOnly = false
        let error: @Sendable (Backend, Folder) throws -> (error: StoreError?, location: String)
    }

    private static func opened(_ backend: Backend, _ folder: Folder) throws -> (stack: DataStack, store: PersistentStore) {
        let stack = try DataStack(companySchema, logger: SilentLogger())
        return (stack, try stack.addStore(backend.store(in: folder)))
    }

    static let failures: [Failure] = [
        Failure(testDescription: "verifying a removed store") { backend, folder in
            let (stack, store) = try opened(backend, folder)
            try stack.removeStoreAndWait(store)
            return (expectError(.closed) { try store.verifyAndWait() }, store.location)
        },
        Failure(testDescription: "removing a store twice") { backend, folder in
            let (stack, store) = try opened(backend, folder)
            try stack.removeStoreAndWait(store)
            return (expectError(.misuse) { try stack.removeStoreAndWait(store) }, store.location)
        },
        Failure(testDescription: "setting a value of another stack's store") { backend, folder in
            let (stack, store) = try opened(backend, folder)
            let other = try DataStack(companySchema, logger: SilentLogger())
            _ = stack
            return (
                expectError(.misuse) { try other.performAndWait { try $0.setStoreValue([1], named: "name", in: store) } }, store.location
            )
        },
        Failure(testDescription: "writing to a read-only store", needsFile: true, needsReadOnly: true) { backend, folder in
            let (first, store) = try opened(backend, folder)
            try first.removeStoreAndWait(store)
            let stack = try DataStack(companySchema, logger: SilentLogger())
            try stack.addStore(backend.store(in: folder).readOnly())
            return (expectError(.readOnly) { try stack.performAndWait { _ = try $0.create(Into<Person>()) } }, store.location)
        },
        Failure(testDescription: "opening a missing store read-only", needsFile: true) { backend, folder in
            let stack = try DataStack(companySchema, logger: SilentLogger())
            let store = backend.store(in: folder).readOnly()
            do {
                try stack.addStore(store)
                Issue.record("a missing store was opened")
                return (nil, store.location)
            } catch let error as StoreError { return (error, store.location) }
        },
        Failure(testDescription: "opening a store for two configurations", needsFile: true) { backend, folder in
            let models: [any Model.Type] = [Person.self, Department.self, Project.self]
            let stack = try DataStack(Schema("Two", models, configurations: ["A": models, "B": models]), logger: SilentLogger())
            let store = try stack.addStore(backend.store(in: folder), configuration: "A")
            return (expectError(.differentStoreAtURL) { try stack.addStore(backend.store(in: folder), configuration: "B") }, store.location)
        },
    ]

    @Test("an error names the store by its location", arguments: Backend.allCases, failures)
    func location(_ backend: Backend, _ failure: Failure) throws {
        if failure.needsFile, backend == .memory { return }
        // LevelDB cannot open a store for reading only.
        if failure.needsReadOnly, backend == .levelDB { return }
        let folder = try Folder()
        let (error, location) = try failure.error(backend, folder)
        let found = try #require(error)
        #expect(found.location == location, "\(found)")
        #expect(found.message.contains(location), "\(found)")
        for engine in ["sqlite:", "lmdb:", "leveldb:"] { #expect(!found.message.contains(engine), "\(found)") }
    }

    @Test(arguments: Backend.allCases)
    func aStoresURLBeginsWithTheEngine(_ backend: Backend) throws {
        let folder = try Folder()
        let (_, store) = try Self.opened(backend, folder)
        #expect(store.url == (backend == .memory ? store.location : "\(backend.rawValue.lowercased()):\(store.location)"))
        #expect(store.location.hasPrefix(backend == .memory ? "memory:" : "/"))
    }
}
