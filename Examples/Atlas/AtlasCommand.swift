import ArgumentParser
import Foundation
import PolyStore
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStoreMemory
import PolyStoreSQLite

/// The atlas: real data in objects, in the store of your choice.
@main
struct AtlasCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "atlas", abstract: "Imports continents, countries, cities and airports, then answers questions about them.")

    enum Backend: String, ExpressibleByArgument, CaseIterable {
        case sqlite, lmdb, leveldb, memory

        /// Where the objects go unless told otherwise.
        var defaultPath: String { self == .sqlite ? "atlas.db" : "atlas.\(rawValue)" }
        /// What lies beside the store's file.
        var sideFiles: [String] {
            switch self {
            case .sqlite: ["-wal", "-shm"]
            case .lmdb: ["-lock"]
            case .leveldb, .memory: []
            }
        }
    }

    @Argument(help: "Where to keep the objects: \(Backend.allCases.map(\.rawValue).joined(separator: ", ")).")
    var backend = Backend.sqlite

    @Option(
        name: .customLong("path"),
        help:
            "The store's file or folder, for a backend that has one. An atlas that is there already is replaced; anything else is refused.")
    var givenPath: String?

    private var path: String { givenPath ?? backend.defaultPath }

    func run() async throws {
        do {
            try await demonstrate()
        } catch let error as StoreError {
            FileHandle.standardError.write(Data("atlas: \(error)\n".utf8))
            throw ExitCode.failure
        }
    }

    private var store: StoreConfiguration {
        switch backend {
        case .sqlite: .sqlite(file: path)
        case .lmdb: .lmdb(file: path)
        case .leveldb: .levelDB(directory: path)
        case .memory: .inMemory()
        }
    }

    private func demonstrate() async throws {
        if backend != .memory { try removeEarlierAtlas() }
        let stack = try DataStack(atlasSchema)
        try stack.addStore(store)
        print("The atlas, in \(backend.rawValue)\(backend == .memory ? "" : ": \(path)")")

        let sources = try await timed("read the files") { try Sources() }
        let importer = AtlasImport(stack: stack)
        try await timed("\(sources.continents.count) continents, \(sources.countries.count) countries with neighbours") {
            try await importer.continentsAndCountries(sources)
        }
        try await timed("\(grouped(sources.cities.count)) cities") { try await importer.cities(sources.cities) }
        try await timed("\(grouped(sources.airports.count)) airports") { try await importer.airports(sources.airports) }
        try await check(stack, sources)
        try await Tour(stack: stack).all()
        if backend == .sqlite {
            print("\nLook for yourself: sqlite3 \(path) 'SELECT name, population FROM City ORDER BY population DESC LIMIT 5'")
        }
    }

    /// Every line of the files must be an object now.
    private func check(_ stack: DataStack, _ sources: Sources) async throws {
        let counts = try await stack.read { context in
            (
                try context.fetchCount(From<Continent>()), try context.fetchCount(From<Country>()), try context.fetchCount(From<City>()),
                try context.fetchCount(From<Airport>())
            )
        }
        guard counts == (sources.continents.count, sources.countries.count, sources.cities.count, sources.airports.count) else {
            throw SourceError(description: "The counts in the store, \(counts), are not those of the files.")
        }
        print("  Counts in the store and in the files agree.")
    }

    /// Removes the file or folder only if it is an atlas: opening anything else throws.
    private func removeEarlierAtlas() throws {
        guard FileManager.default.fileExists(atPath: path) else { return }
        // LevelDB has no opening for reading only.
        do { try DataStack(atlasSchema).addStore(backend == .leveldb ? store : store.readOnly()) }
        for suffix in [""] + backend.sideFiles where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.removeItem(atPath: path + suffix)
        }
    }

    private func timed<T>(_ what: String, _ body: () async throws -> T) async throws -> T {
        let start = ContinuousClock.now
        let result = try await body()
        let elapsed = ContinuousClock.now - start
        let milliseconds = Int(Double(elapsed.components.seconds) * 1000 + Double(elapsed.components.attoseconds) / 1e15)
        print("  \(grouped(milliseconds).leftPadded(7)) ms  \(what)")
        return result
    }
}
