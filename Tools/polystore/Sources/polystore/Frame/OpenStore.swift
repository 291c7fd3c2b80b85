import PolyStoreCore

import struct PolyStoreBackend.EntityDescription
import enum PolyStoreBackend.LogLevel
import struct PolyStoreBackend.SchemaDescription
import struct PolyStoreBackend.StandardErrorLogger
import struct PolyStoreBackend.StoreError

/// An open store with the schema that it keeps.
struct OpenStore: Sendable {
    let location: StoreLocation
    let stack: DataStack
    let store: PersistentStore
    /// The schema that the store keeps.
    let schema: SchemaDescription

    /// Opens a store that exists.
    /// - Throws: `cannotOpen` with the reason.
    init(_ location: StoreLocation, forWriting isWritable: Bool = false, history: HistoryOptions? = nil, verbose: Bool = false) throws {
        self.location = location
        do {
            guard try location.configuration.exists() else {
                throw ToolError(.cannotOpen, "There is no store at \(location.name).")
            }
            stack = try DataStack(
                opening: location.configuration, forWriting: isWritable, history: history,
                logger: StandardErrorLogger(minimum: verbose ? .info : .error))
        } catch { throw ToolError(error, isOpening: true) }
        guard let store = stack.stores.first else { throw ToolError(.cannotOpen, "\(location.name) cannot be opened.") }
        self.store = store
        schema = store.schemaDescription
    }

    /// The names of all entities and subentities that have objects, in order.
    var entityNames: [String] {
        schema.entities.flatMap { entity in [entity.name] + (entity.hierarchy?.subentities.map(\.name) ?? []) }
    }

    /// Returns the entity with a name, which can be that of a subentity.
    /// - Throws: `usage` with the name that was probably meant.
    func entity(_ name: String) throws -> EntityDescription {
        if let found = schema.entities.first(where: { entity in
            entity.name == name || entity.hierarchy?.subentities.contains { $0.name == name } ?? false
        }) {
            return found
        }
        let known = entityNames
        guard !known.isEmpty else { throw ToolError(.usage, "\(location.name) has no entity \"\(name)\"; it has none at all.") }
        let hint =
            Spelling.nearest(name, among: known).map { "Did you mean \"\($0)\"?" } ?? "It has \(known.sorted().joined(separator: ", "))."
        throw ToolError(.usage, "\(location.name) has no entity \"\(name)\". \(hint)")
    }
}

extension OpenStore {
    /// Reads one snapshot. A command that is interrupted ends the read.
    ///
    /// A server can end a read with an error after which the library runs it again. That is not done once a part of the output was written.
    func reading<T: Sendable>(_ body: @escaping @Sendable (SnapshotContext) throws -> T) async throws -> T {
        try await stack.read { context in try Self.once { try body(context) } }
    }

    /// Reads one snapshot on the thread of the caller, inside of a read of another store.
    func readingAndWait<T: Sendable>(_ body: @Sendable (SnapshotContext) throws -> T) throws -> T {
        try stack.readAndWait { context in try Self.once { try body(context) } }
    }

    private static func once<T>(_ body: () throws -> T) throws -> T {
        do { return try body() } catch let error as StoreError where StandardOutput.shared.isBegun { throw ToolError(error) }
    }
}
