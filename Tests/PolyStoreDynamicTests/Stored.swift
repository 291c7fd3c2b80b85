import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// A store that a stack with classes writes, and that is closed before it is opened without them.
struct Stored {
    let folder: Folder
    let configuration: StoreConfiguration
    let schema: Schema

    init(
        _ engine: Engine, _ schema: Schema = Stored.company, history: HistoryOptions? = nil,
        _ fill: @Sendable (Transaction) throws -> Void = { _ in }
    ) throws {
        folder = try Folder()
        configuration = try engine.store(in: folder)
        self.schema = schema
        try withClasses(history: history) { stack in try stack.performAndWait { try fill($0) } }
    }

    static let company = Schema("Company", Person.self, Department.self, Project.self)

    func withClasses<R>(history: HistoryOptions? = nil, _ body: (DataStack) throws -> R) throws -> R {
        let stack = try DataStack(schema)
        try stack.addStore(configuration, history: history)
        return try Self.closing(stack, body)
    }

    func writing<R>(history: HistoryOptions? = nil, _ body: (DataStack) throws -> R) throws -> R {
        try Self.closing(DataStack(opening: configuration, forWriting: true, history: history), body)
    }

    /// Calls a closure with a stack, and closes its stores.
    static func closing<R>(_ stack: DataStack, _ body: (DataStack) throws -> R) throws -> R {
        let result = Result { try body(stack) }
        for store in stack.stores { try stack.removeStoreAndWait(store, evenIfInUse: true) }
        return try result.get()
    }

    /// Calls a closure with a stack without classes, and closes its store.
    static func opened<R>(
        _ configuration: StoreConfiguration, forWriting isWritable: Bool = false, history: HistoryOptions? = nil,
        isolation: isolated (any Actor)? = #isolation, _ body: (DataStack) async throws -> R
    ) async throws -> R {
        let stack = try DataStack(opening: configuration, forWriting: isWritable, history: history)
        let result: Result<R, any Error>
        do { result = .success(try await body(stack)) } catch { result = .failure(error) }
        for store in stack.stores { try await stack.removeStore(store, evenIfInUse: true) }
        return try result.get()
    }

    static func fillCompany(_ transaction: Transaction) throws {
        let research = try transaction.create(Department.self) { ($0.title, $0.budget) = ("Research", 12.5) }
        let sales = try transaction.create(Department.self) { $0.title = "Sales" }
        for (index, name) in ["ann", "bob", "cid", "dan"].enumerated() {
            let person = try transaction.create(Person.self)
            (person.email, person.age) = (name, 20 + 10 * index)
            person.department = index < 3 ? research : sales
        }
        let project = try transaction.create(Project.self)
        (project.name, project.owner) = ("Mars", research)
    }
}

/// Returns the error that an asynchronous closure throws.
func requireFailure(
    isolation: isolated (any Actor)? = #isolation, sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
) async throws -> StoreError {
    var failure: (any Error)?
    do { try await body() } catch { failure = error }
    return try #require(failure as? StoreError, "an error of the store is expected", sourceLocation: sourceLocation)
}
