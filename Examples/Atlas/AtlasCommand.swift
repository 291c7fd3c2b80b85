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

        /// The default path of the store.
        var defaultPath: String { self == .sqlite ? "atlas.db" : "atlas.\(rawValue)" }
        /// The files beside the store's file.
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
            "The store's file or folder, for a backend that has one. An atlas of an earlier version is migrated, one of this version replaced; anything else is refused."
    )
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
        let stack = try DataStack(atlasHistory)
        let migrations = backend == .memory ? [] : try await stack.requiredMigrations(for: store)
        if !migrations.isEmpty {
            try await migrate(stack)
        } else {
            if backend != .memory { try removeAtlas() }
            try stack.addStore(store)
            print("The atlas, in \(backend.rawValue)\(backend == .memory ? "" : ": \(path)")")
            try await importFiles(stack)
            try await check(stack)
        }
        try await Tour(stack: stack).all()
        if backend == .sqlite {
            print("\nLook for yourself: sqlite3 \(path) 'SELECT name, population FROM City ORDER BY population DESC LIMIT 5'")
        }
    }

    /// Migrates an atlas of an earlier version, with its progress.
    private func migrate(_ stack: DataStack) async throws {
        print("An earlier atlas, in \(backend.rawValue): \(path)")
        let run = stack.startAddingStore(store, migrating: .chain)
        for await progress in run.updates { print("  \(progress)") }
        _ = try await run.value
        if let report = run.report { print("  Migrated: \(report)") }
    }

    private func importFiles(_ stack: DataStack) async throws {
        // Each file in one transaction: it is imported completely or not at all.
        try await imported("continents") { try await stack.importRecords(Into<Continent>(), from: source("continents.json")) }
        try await imported("countries with neighbours") { try await stack.importRecords(Into<Country>(), from: source("countries.json")) }
        try await imported("cities") { try await stack.importRecords(Into<City>(), from: source("cities.json")) }
        try await imported("airports") { try await stack.importRecords(Into<Airport>(), from: source("airports.csv")) }
        try await stack.perform { transaction in
            for country in try transaction.fetchAll(From<Country>(), Where(\.capital != nil)) {
                for city in country.cities where city.name == country.capital { city.isCapital = true }
            }
        }
    }

    /// Checks that every record of the files is an object.
    private func check(_ stack: DataStack) async throws {
        let stored = try await stack.read { context in
            [
                try context.fetchCount(From<Continent>()), try context.fetchCount(From<Country>()), try context.fetchCount(From<City>()),
                try context.fetchCount(From<Airport>()),
            ]
        }
        let files = try ["continents.json", "countries.json", "cities.json", "airports.csv"].map { name in
            let reader = try source(name).makeReader()
            return try reader.skip(records: .max)
        }
        guard stored == files else {
            throw StoreError(.corrupt, "The counts in the store, \(stored), are not those of the files, \(files).")
        }
        print("  Counts in the store and in the files agree.")
    }

    /// Removes the file or folder only if it is an atlas: opening anything else throws.
    private func removeAtlas() throws {
        guard FileManager.default.fileExists(atPath: path) else { return }
        // LevelDB cannot open a store read-only.
        do { try DataStack(atlasSchema).addStore(backend == .leveldb ? store : store.readOnly()) }
        for suffix in [""] + backend.sideFiles where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.removeItem(atPath: path + suffix)
        }
    }

    private func imported(_ what: String, _ body: () async throws -> ImportReport) async throws {
        let start = ContinuousClock.now
        let report = try await body()
        let elapsed = ContinuousClock.now - start
        let milliseconds = Int(Double(elapsed.components.seconds) * 1000 + Double(elapsed.components.attoseconds) / 1e15)
        print("  \(grouped(milliseconds).leftPadded(7)) ms  \(grouped(report.inserted)) \(what)")
    }
}
