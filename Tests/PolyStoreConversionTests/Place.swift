import ConversionTestSupport
import Foundation
import PolyStoreBackend
import PolyStoreCore
import PolyStorePostgreSQL
import PostgreSQLServer
import Synchronization
import TestSupport
import Testing

/// A kind of store that is converted from or to.
enum Place: String, CaseIterable, CustomTestStringConvertible, Sendable {
    case memory, sqlite, lmdb, levelDB, postgreSQL

    var testDescription: String { rawValue }

    private static let schemas = Atomic<Int>(0)

    /// The kinds of stores that are not in memory, and PostgreSQL if a server runs.
    static let persistent = allCases.filter { $0 != .memory && $0.isAvailable }
    static let available = allCases.filter(\.isAvailable)

    /// A Boolean value that indicates whether the store needs no server, or one can be started.
    var isAvailable: Bool { self != .postgreSQL || (try? PostgreSQLServer.shared.get()) != nil }

    /// Returns the URL of a new store.
    func url(in folder: Folder, _ name: String) throws -> String {
        switch self {
        case .memory: return "memory:"
        case .sqlite: return "sqlite:\(folder.file(name)).sqlite"
        case .lmdb: return "lmdb:\(folder.file(name)).lmdb"
        case .levelDB: return "leveldb:\(folder.file(name)).leveldb"
        case .postgreSQL:
            let number = Self.schemas.wrappingAdd(1, ordering: .relaxed).newValue
            return try PostgreSQLServer.shared.get().url(options: "schema=conversion_\(getpid())_\(number)&busyTimeout=3600000")
        }
    }

    /// Returns the configuration of a new store.
    func store(in folder: Folder, _ name: String) throws -> StoreConfiguration {
        try StoreEngines.all.configuration(url(in: folder, name))
    }
}

/// A direction of a conversion.
struct Pair: CustomTestStringConvertible, Sendable {
    let source: Place
    let target: Place

    var testDescription: String { "\(source.rawValue) to \(target.rawValue)" }

    static let all = Place.available.flatMap { source in Place.available.map { Pair(source: source, target: $0) } }
    static let persistent = all.filter { $0.source != .memory && $0.target != .memory }
    /// Each kind of store as a source and as a target, and in the thorough ring all pairs.
    static let some = Ring.current == .thorough ? persistent : persistent.filter { $0.source == .sqlite || $0.target == .lmdb }
}

/// Returns a conversion without messages. A store in memory is given as the open store.
func conversion(_ source: StoreConfiguration, _ target: StoreConfiguration) throws -> StoreConversion {
    var conversion =
        source.engine == "memory"
        ? StoreConversion(from: try SampleStore.open(source), to: target) : StoreConversion(from: source, to: target)
    conversion.logger = RecordingLogger()
    return conversion
}

/// Tests that a conversion to a store that exists is refused, and leaves it as it is.
func expectTaken(_ target: StoreConfiguration, by source: StoreConfiguration) throws {
    let before = try StoreDigest(of: target, logger: RecordingLogger())
    for startsOver in [false, true] {
        var again = try conversion(source, target)
        again.startsOver = startsOver
        let error = try requireFailure { _ = try again.runAndWait() }
        #expect(error.code == .io)
        #expect(error.message.contains("exists already"))
    }
    #expect(try StoreDigest(of: target, logger: RecordingLogger()) == before)
}

extension StoreConfiguration {
    /// Opens the store with a schema that declares the same entities in the other order.
    func openReversed() throws -> any StorageBackend {
        var description = SampleSchema.description
        description.entities.reverse()
        return try open(schema: ResolvedSchema(description), configurationName: nil, logger: RecordingLogger())
    }

    /// Opens the incomplete target of a conversion.
    func openIncomplete(of storeID: String) throws -> any StorageBackend {
        var marked = self
        marked.conversion = ConversionTarget(storeID: storeID)
        return try marked.open(
            schema: ResolvedSchema(SampleSchema.description), configurationName: ConversionTarget.configurationName(for: nil),
            logger: RecordingLogger())
    }
}

extension Place {
    /// Creates a filled store and returns a configuration that opens it, and for a store in memory the open one.
    func filled(in folder: Folder, _ name: String = "source", people: Int = 60, configurationName: String? = nil) throws
        -> StoreConfiguration
    {
        try Self.fill(store(in: folder, name), people: people, configurationName: configurationName)
    }

    /// Creates a filled store.
    static func fill(_ store: StoreConfiguration, people: Int, configurationName: String? = nil) throws -> StoreConfiguration {
        let backend = try SampleStore.open(store, configurationName: configurationName)
        try SampleStore(backend).fill(people: people)
        if store.engine == "memory" { return StoreConfiguration(engine: "memory", location: store.location) { _ in backend } }
        try backend.close()
        return store
    }
}
