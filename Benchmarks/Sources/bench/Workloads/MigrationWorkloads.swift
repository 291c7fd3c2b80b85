import Dispatch
import PeerKit
import PolyStoreBackend
import PolyStoreCore

/// W19: the migration of a store of contacts, in a process of its own for each part.
///
/// - `W19make` creates the store of the earlier version
/// - `W19light` adds an attribute with a default, removes another and widens a third
/// - `W19heavy` converts an attribute of every contact, so that every record is written again
struct MigrationWorkloads {
    private let store: BenchStore
    private static let current = Schema("W19 2", Contact.self)

    init(_ store: BenchStore) { self.store = store }

    /// An earlier version of the contacts.
    private func earlier(_ change: (inout AttributeDescription) -> Void, extra: String?, without removed: String?) -> SchemaDescription {
        var entity = Self.current.locked.entities[0]
        entity.properties = entity.properties.compactMap { property in
            guard case .attribute(var attribute) = property, attribute.name != removed else { return nil }
            change(&attribute)
            return .attribute(attribute)
        }
        if let extra { entity.properties.insert(.attribute(AttributeDescription(name: extra, type: .int32)), at: 0) }
        return SchemaDescription(name: "W19 1", entities: [entity])
    }

    private var light: SchemaDescription {
        earlier({ if $0.name == "age" { $0.type = .int16 } }, extra: "legacy", without: "score")
    }

    private var heavy: SchemaDescription { earlier({ if $0.name == "name" { $0.type = .int64 } }, extra: nil, without: nil) }

    func make() throws {
        for (name, description) in [("light", light), ("heavy", heavy)] {
            try store.remove(name)
            try fill(store.configuration(name), ResolvedSchema(description))
        }
    }

    func fill(_ configuration: StoreConfiguration, _ schema: ResolvedSchema) throws {
        let backend = try configuration.open(schema: schema, configurationName: nil, logger: SilentLogger())
        let entity = schema.entities[0]
        for start in stride(from: 0, to: PB.n, by: 10_000) {
            let writer = try backend.beginWrite()
            let changes = ChangeSet(schema)
            let count = min(10_000, PB.n - start)
            let first = try writer.reserveIDs(entity, count: count)
            for id in first..<first + Int64(count) {
                try changes.insert(entity, rowID: id) { builder in
                    for field in entity.fields {
                        switch field.type.physical {
                        case .text: builder.setText(field.index, "\(field.name) \(id)")
                        case .real: builder.setReal(field.index, Double(id))
                        default: builder.setInteger(field.index, id % 2)
                        }
                    }
                }
            }
            try writer.apply(changes)
            _ = try writer.commit(.relaxed)
        }
        try backend.close()
    }

    func migrate(_ name: String) throws {
        let stack = try DataStack(Self.current)
        let configuration = try store.configuration(name)
        let start = Stamp()
        let report = try wait { try await stack.upgradeStoreIfNeeded(configuration) }
        let end = Stamp()
        precondition(report.steps.count == 1, "no migration was needed")
        store.out.emit(
            "W19\(name)", PB.n, start, end, note: "\(report.steps[0].rewrittenObjects) rewritten, \(Memory().anonymous) KiB anonymous")
        let opened = try DataStack(Self.current)
        try opened.addStore(configuration)
        let count = try opened.readAndWait { try $0.fetchCount(From<Contact>()) }
        precondition(count == PB.n, "\(count) contacts after the migration")
    }

    /// Waits for an asynchronous closure on the calling thread.
    private func wait<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) throws -> T {
        let done = DispatchSemaphore(value: 0)
        let box = Box<T>()
        Task.detached {
            do { box.result = .success(try await body()) } catch { box.result = .failure(error) }
            done.signal()
        }
        done.wait()
        guard let result = box.result else { preconditionFailure("the task has ended") }
        return try result.get()
    }

    private final class Box<T>: @unchecked Sendable {  // written before the semaphore is signaled, and read afterwards
        var result: Result<T, any Error>?
    }
}
