import Foundation
import PolyStoreBackend
import PolyStoreCore
import PolyStorePostgreSQL
import PostgreSQLServer
import Synchronization
import TestSupport

/// An engine whose stores outlive their stack: those of files, and PostgreSQL if a server can be started.
enum Engine: Sendable, Equatable, CustomStringConvertible {
    case files(Backend)
    case postgreSQL

    static let all: [Engine] = Backend.persistent.map { .files($0) } + server
    /// The engines whose stores several processes can have open.
    static let shared: [Engine] = Backend.shared.map { .files($0) } + server

    private static let server: [Engine] = (try? PostgreSQLServer.shared.get()) == nil ? [] : [.postgreSQL]
    private static let count = Atomic<Int>(0)

    var description: String {
        switch self {
        case .files(let backend): "\(backend)"
        case .postgreSQL: "postgresql"
        }
    }

    /// Returns the configuration of a store that no other test uses.
    func store(in folder: Folder, _ name: String = "test") throws -> StoreConfiguration {
        switch self {
        case .files(let backend): return backend.store(in: folder, name)
        case .postgreSQL:
            var options = PostgreSQLOptions()
            options.schema = "dynamic_\(Self.count.wrappingAdd(1, ordering: .relaxed).newValue)"
            options.busyTimeout = .seconds(3600)
            options.connectTimeout = .seconds(600)
            return try .postgreSQL(PostgreSQLServer.shared.get().url(), options: options)
        }
    }
}
