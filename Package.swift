// swift-tools-version:6.2
import CompilerPluginSupport
import PackageDescription

// Our own targets only: what a dependency warns of is not ours to refuse.
let settings: [SwiftSetting] = Context.environment["POLYSTORE_WARNINGS_AS_ERRORS"] == nil ? [] : [.treatAllWarnings(as: .error)]

// Only for `swift package generate-documentation`, so that users do not fetch it. scripts/documentation.sh works without it.
let documentation: [Package.Dependency] =
    Context.environment["POLYSTORE_DOCUMENTATION"] == nil
    ? [] : [.package(url: "https://github.com/swiftlang/swift-docc-plugin.git", from: "1.4.0")]

let package = Package(
    name: "PolyStore",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11)],
    products: [
        .library(name: "PolyStore", targets: ["PolyStore"]),
        .library(name: "PolyStoreCore", targets: ["PolyStoreCore"]),
        .library(name: "PolyStoreBackend", targets: ["PolyStoreBackend"]),
        .library(name: "PolyStoreQuery", targets: ["PolyStoreQuery"]),
        .library(name: "PolyStoreSearch", targets: ["PolyStoreSearch"]),
        .library(name: "PolyStoreMemory", targets: ["PolyStoreMemory"]),
        .library(name: "PolyStoreFormats", targets: ["PolyStoreFormats"]),
        .library(name: "PolyStoreGzip", targets: ["PolyStoreGzip"]),
        .library(name: "PolyStoreKeyValue", targets: ["PolyStoreKeyValue"]),
        .library(name: "PolyStoreSQLite", targets: ["PolyStoreSQLite"]),
        .library(name: "PolyStoreLMDB", targets: ["PolyStoreLMDB"]),
        .library(name: "PolyStoreLevelDB", targets: ["PolyStoreLevelDB"]),
        .library(name: "PolyStorePostgreSQL", targets: ["PolyStorePostgreSQL"]),
        .library(name: "PolyStoreTables", targets: ["PolyStoreTables"]),
        .library(name: "PolyStoreConformance", targets: ["PolyStoreConformance"]),
        // For the tests of the tool, which is another package.
        .executable(name: "postgresql-server", targets: ["postgresql-server"]),
    ],
    dependencies: [
        .package(url: "https://github.com/swiftlang/swift-syntax.git", "602.0.0"..<"604.0.0")
    ] + documentation,
    targets: [
        // The C library of the platform.
        .target(name: "PolyStorePlatform", swiftSettings: settings),
        // Sorted lists, subsequences, prefix sums and ids in order; knows nothing of stores.
        .target(name: "PolyStoreCollections", swiftSettings: settings),
        // The tokens, the language and the rank of full-text search; knows nothing of stores.
        .target(name: "PolyStoreSearch", swiftSettings: settings),
        // The inverted index of a search, in pages that a backend stores.
        .target(name: "PolyStoreSearchIndex", dependencies: ["PolyStoreSearch"], swiftSettings: settings),
        // The contract that a backend sees.
        .target(name: "PolyStoreBackend", dependencies: ["CRecordBytes", "PolyStorePlatform", "PolyStoreSearch"], swiftSettings: settings),
        // Evaluates requests on records: what a backend does not execute itself.
        .target(
            name: "PolyStoreQuery", dependencies: ["PolyStoreBackend", "PolyStorePlatform", "PolyStoreSearch", "PolyStoreSearchIndex"],
            swiftSettings: settings),
        // Checksums and UTF-8 validation of records, with instructions of the processor.
        .target(name: "CRecordBytes"),
        // The record layer: makes a backend of any ordered key-value engine.
        .target(
            name: "PolyStoreKeyValue",
            dependencies: [
                "PolyStoreBackend", "PolyStoreCollections", "PolyStoreQuery", "PolyStoreSearch", "PolyStoreSearchIndex",
            ], swiftSettings: settings
        ),
        // Records in JSON, JSON Lines and CSV.
        .target(name: "PolyStoreFormats", dependencies: ["PolyStorePlatform"], swiftSettings: settings),
        // The same, compressed with gzip.
        .systemLibrary(
            name: "CZlib", path: "Backends/System/CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        .target(name: "PolyStoreGzip", dependencies: ["PolyStoreFormats", "CZlib"], swiftSettings: settings),
        // Conditions in every form, resolved against the schema of a store. Knows no object.
        .target(
            name: "PolyStoreConditions",
            dependencies: [
                "PolyStoreBackend", "PolyStoreQuery", "PolyStoreSearch",
            ], swiftSettings: settings),
        // Work that takes long: its threads, its progress, its cancellation and its result.
        .target(name: "PolyStoreRuns", dependencies: ["PolyStoreBackend", "PolyStorePlatform"], swiftSettings: settings),
        // The types of attributes: their values in records, ranges, and the codings that generated code selects.
        .target(name: "PolyStoreAttributes", dependencies: ["PolyStoreBackend"], swiftSettings: settings),
        // The kernel of the object layer: models, queries, contexts, stacks, transactions.
        .target(
            name: "PolyStoreKernel",
            dependencies: [
                "PolyStoreAttributes", "PolyStoreBackend", "PolyStoreCollections", "PolyStoreConditions", "PolyStorePlatform",
                "PolyStoreQuery", "PolyStoreRuns", "CObjectRetain", "PolyStoreSearch",
            ],
            swiftSettings: settings),
        // Lists, objects and values that follow commits.
        .target(
            name: "PolyStoreObservation",
            dependencies: [
                "PolyStoreAttributes", "PolyStoreBackend", "PolyStoreCollections", "PolyStoreConditions", "PolyStoreKernel",
                "PolyStoreQuery", "PolyStoreRuns", "PolyStoreSearch",
            ],
            swiftSettings: settings),
        // Conditions and orders by columns in closures.
        .target(
            name: "PolyStoreColumns",
            dependencies: [
                "PolyStoreAttributes", "PolyStoreBackend", "PolyStoreConditions", "PolyStoreKernel", "PolyStoreSearch",
            ], swiftSettings: settings),
        // Conditions from Foundation's `#Predicate`.
        .target(
            name: "PolyStorePredicates",
            dependencies: ["PolyStoreAttributes", "PolyStoreBackend", "PolyStoreConditions", "PolyStoreKernel"], swiftSettings: settings),
        // The recorded history of a store.
        .target(
            name: "PolyStoreHistory", dependencies: ["PolyStoreAttributes", "PolyStoreBackend", "PolyStoreKernel", "PolyStoreRuns"],
            swiftSettings: settings),
        // Import and export of records.
        .target(
            name: "PolyStoreTransfer",
            dependencies: [
                "PolyStoreAttributes", "PolyStoreBackend", "PolyStoreConditions", "PolyStoreFormats", "PolyStoreKernel", "PolyStoreQuery",
                "PolyStoreRuns",
            ],
            swiftSettings: settings),
        // Migrations of stores to other versions of a schema.
        .target(
            name: "PolyStoreMigration",
            dependencies: ["PolyStoreBackend", "PolyStoreConditions", "PolyStoreKernel", "PolyStoreQuery", "PolyStoreRuns"],
            swiftSettings: settings),
        // Objects of stores that are opened with the schema that they keep, without classes.
        .target(
            name: "PolyStoreDynamic",
            dependencies: [
                "PolyStoreAttributes", "PolyStoreBackend", "PolyStoreConditions", "PolyStoreFormats", "PolyStoreHistory", "PolyStoreKernel",
                "PolyStoreMigration", "PolyStoreObservation", "PolyStoreRuns", "PolyStoreTransfer", "PolyStoreSearch",
            ],
            swiftSettings: settings),
        // Copies of whole stores to other backends.
        .target(
            name: "PolyStoreConversion",
            dependencies: [
                "PolyStoreBackend", "PolyStoreKernel", "PolyStoreMigration", "PolyStorePlatform", "PolyStoreQuery", "PolyStoreRuns",
            ],
            swiftSettings: settings),
        // The source of classes for the schema of a store.
        .target(
            name: "PolyStoreSource",
            dependencies: [
                "PolyStoreAttributes", "PolyStoreBackend", "PolyStoreKernel", "PolyStoreSearch",
            ], swiftSettings: settings),
        // Indexes that would let a fetch read fewer rows.
        .target(
            name: "PolyStoreAdvice", dependencies: ["PolyStoreBackend", "PolyStoreDynamic", "PolyStoreKernel", "PolyStoreQuery"],
            swiftSettings: settings),
        // The tables of databases of SQLite that this library did not write, as a schema with its rows.
        .target(
            name: "PolyStoreTables",
            dependencies: [
                "PolyStoreAttributes", "PolyStoreBackend", "PolyStoreDynamic", "PolyStoreFormats", "PolyStoreKernel", "PolyStoreSource",
                "CSQLite",
            ],
            swiftSettings: settings),
        // The object layer, free of macros: thirteen modules.
        .target(
            name: "PolyStoreCore",
            dependencies: [
                "PolyStoreAdvice", "PolyStoreAttributes", "PolyStoreColumns", "PolyStoreConversion", "PolyStoreDynamic", "PolyStoreHistory",
                "PolyStoreKernel", "PolyStoreMigration", "PolyStoreObservation", "PolyStorePredicates", "PolyStoreRuns", "PolyStoreSource",
                "PolyStoreTransfer", "PolyStoreSearch",
            ],
            swiftSettings: settings),
        // Two functions of Swift's runtime.
        .target(name: "CObjectRetain"),
        .macro(
            name: "PolyStoreMacros",
            dependencies: [
                .product(name: "SwiftSyntax", package: "swift-syntax"),
                .product(name: "SwiftSyntaxBuilder", package: "swift-syntax"),
                .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
                .product(name: "SwiftDiagnostics", package: "swift-syntax"),
                .product(name: "SwiftCompilerPlugin", package: "swift-syntax"),
            ], swiftSettings: settings),
        // What users import.
        .target(
            name: "PolyStore",
            dependencies: [
                "PolyStoreCore", "PolyStoreBackend", "PolyStoreFormats", "PolyStoreMacros", "PolyStoreSearch",
            ],
            swiftSettings: settings),

        // Backends: each knows the contract and nothing above it.
        .target(
            name: "PolyStoreMemory", dependencies: ["PolyStoreBackend", "PolyStoreKeyValue"], path: "Backends/Memory",
            swiftSettings: settings),
        .systemLibrary(
            name: "CSQLite", path: "Backends/System/CSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite3"])]),
        .target(
            name: "PolyStoreSQLite",
            dependencies: [
                "PolyStoreBackend", "PolyStoreCollections", "PolyStorePlatform", "PolyStoreQuery", "CSQLite", "PolyStoreSearch",
                "PolyStoreSearchIndex",
            ],
            path: "Backends/SQLite",
            swiftSettings: settings),
        .systemLibrary(
            name: "CLMDB", path: "Backends/System/CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
        .target(
            name: "PolyStoreLMDB", dependencies: ["PolyStoreBackend", "PolyStoreKeyValue", "PolyStorePlatform", "CLMDB"],
            path: "Backends/LMDB",
            swiftSettings: settings),
        .systemLibrary(
            name: "CLevelDB", path: "Backends/System/CLevelDB", providers: [.apt(["libleveldb-dev"]), .brew(["leveldb"])]),
        .target(
            name: "PolyStoreLevelDB",
            dependencies: ["PolyStoreBackend", "PolyStoreKeyValue", "PolyStorePlatform", "CLevelDB", "CRecordBytes"],
            path: "Backends/LevelDB", swiftSettings: settings),

        // Needs libpq, and nothing else of the package does.
        .systemLibrary(
            name: "CPostgreSQL", path: "Backends/System/CPostgreSQL", pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        .target(
            name: "PolyStorePostgreSQL",
            dependencies: [
                "PolyStoreBackend", "PolyStorePlatform", "PolyStoreQuery", "CPostgreSQL", "PolyStoreSearch", "PolyStoreSearchIndex",
            ],
            path: "Backends/PostgreSQL", swiftSettings: settings),

        // Models that tests share, free of macros: Models contains the classes with @Model, Expanded what the macros generate.
        .target(
            name: "TestModels", dependencies: ["PolyStoreCore", "PolyStoreBackend"], path: "Tests/Support/TestModels", exclude: ["Models"],
            swiftSettings: settings),
        // The random generator of the conformance suite and the tests.
        .target(name: "SeededRandom", path: "Tests/Support/SeededRandom", swiftSettings: settings),
        // Starts programs for the conformance suite and the tests.
        .target(name: "CSpawn", path: "Tests/Support/CSpawn"),
        .target(name: "ChildProcesses", dependencies: ["CSpawn"], path: "Tests/Support/ChildProcesses", swiftSettings: settings),
        // A server of PostgreSQL for tests.
        .target(
            name: "PostgreSQLServer", dependencies: ["ChildProcesses"], path: "Tests/Support/PostgreSQLServer", swiftSettings: settings),
        .executableTarget(
            name: "postgresql-server", dependencies: ["PostgreSQLServer"], path: "Tests/Support/PostgreSQLServerProgram",
            swiftSettings: settings),
        // Lets system calls of a test fail.
        .target(name: "CFileFaults", path: "Tests/Support/CFileFaults"),
        // Counts the flushes of a process, for the suite.
        .target(name: "CFlushProbe", path: "Conformance/CFlushProbe"),
        // What the test targets share: backends, folders, loggers, and how thorough a run is. Linked by tests only.
        .target(
            name: "TestSupport",
            dependencies: [
                "CFileFaults", "PolyStoreBackend", "PolyStoreMemory", "PolyStoreQuery", "PolyStoreSQLite", "PolyStoreLMDB",
                "PolyStoreLevelDB", "PolyStoreSearch",
                "SeededRandom",
            ],
            path: "Tests/Support/TestSupport", swiftSettings: settings),
        // The suite that verifies any backend.
        .target(
            name: "PolyStoreConformance",
            dependencies: [
                "PolyStoreBackend", "PolyStoreQuery", "PolyStoreKeyValue", "PolyStoreMemory", "CFlushProbe", "ChildProcesses",
                "SeededRandom", "PolyStoreSearch",
            ],
            path: "Conformance/PolyStoreConformance", swiftSettings: settings),
        // The built-in backends and what they claim, and the program that prints how they fare.
        .target(
            name: "ConformanceTargets",
            dependencies: [
                "PolyStoreConformance", "PolyStoreKeyValue", "PolyStoreMemory", "PolyStoreSQLite", "PolyStoreLMDB", "PolyStoreLevelDB",
                "SmallStores",
            ], path: "Conformance/Targets", swiftSettings: settings),
        .executableTarget(
            name: "conformance-report", dependencies: ["ConformanceTargets", "PolyStoreConformance"], path: "Conformance/Report",
            swiftSettings: settings),
        // The conformance suite on PostgreSQL, with a server of its own. Apart from the built-in targets, which need no libpq.
        .target(
            name: "PostgreSQLTarget",
            dependencies: ["PolyStoreBackend", "PolyStoreConformance", "PolyStorePostgreSQL", "PostgreSQLServer"],
            path: "Conformance/PostgreSQL/Target", swiftSettings: settings),
        .executableTarget(
            name: "postgresql-report", dependencies: ["PolyStoreConformance", "PostgreSQLServer", "PostgreSQLTarget"],
            path: "Conformance/PostgreSQL/Report", swiftSettings: settings),
        // Killed by the tests of the kill harness, and run on its own for the damage harness.
        .executableTarget(
            name: "conformance-child", dependencies: ["ConformanceTargets", "PolyStoreBackend", "PolyStoreConformance"],
            path: "Conformance/Child", swiftSettings: settings),
        .testTarget(
            name: "ConformanceTests",
            dependencies: [
                "ConformanceTargets", "PolyStoreBackend", "PolyStoreConformance", "PolyStoreKeyValue", "PolyStoreMemory", "PolyStoreQuery",
                "conformance-child", "TestSupport",
            ],
            path: "Conformance/ConformanceTests", swiftSettings: settings),

        // Killed by Tests/Kill/run.sh.
        .executableTarget(
            name: "kill-child",
            dependencies: ["PolyStore", "EngineTestSupport", "SmallStores"], path: "Tests/Kill/Child", swiftSettings: settings),

        // Migrations, killed by Tests/Kill/migrate.sh and failed by Tests/Faults/migrate.sh. Free of macros, so that a release build takes minutes.
        .executableTarget(
            name: "migration-child",
            dependencies: ["PolyStoreCore", "SmallStores", "TestModels"], path: "Tests/Kill/MigrationChild", swiftSettings: settings),

        // Many concurrent threads, run by Tests/Stress/run.sh. Uses no macros, so that a build with the thread sanitizer takes a minute.
        .executableTarget(
            name: "stress-child",
            dependencies: ["PolyStoreCore", "SeededRandom", "SmallStores", "TestModels"], path: "Tests/Stress/Child",
            swiftSettings: settings),

        // The built-in engines by name, for programs that run on any of them.
        .target(
            name: "SmallStores",
            dependencies: ["PolyStoreBackend", "PolyStoreMemory", "PolyStoreSQLite", "PolyStoreLMDB", "PolyStoreLevelDB"],
            path: "Tests/Engines/Stores", swiftSettings: settings),
        // What the tests of the key-value engines share, and the other process in them.
        .target(
            name: "EngineTestSupport",
            dependencies: ["ChildProcesses", "PolyStoreBackend", "PolyStoreQuery", "PolyStoreSearch", "SeededRandom"],
            path: "Tests/Engines/Support",
            swiftSettings: settings),
        .executableTarget(
            name: "engine-child",
            dependencies: [
                "CFileFaults", "EngineTestSupport", "PolyStoreBackend", "PolyStoreKeyValue", "PolyStoreSQLite", "PolyStoreLMDB",
                "PolyStoreLevelDB",
            ],
            path: "Tests/Engines/Child", swiftSettings: settings),

        // Run by Tests/Faults/run.sh with faults injected below the engines.
        .executableTarget(
            name: "fault-child",
            dependencies: ["EngineTestSupport", "PolyStoreBackend", "PolyStoreSearch", "SeededRandom", "SmallStores"],
            path: "Tests/Faults/Child", swiftSettings: settings),

        .testTarget(name: "PolyStoreSearchTests", dependencies: ["PolyStoreSearch", "SeededRandom"], swiftSettings: settings),
        .testTarget(
            name: "PolyStoreSearchIndexTests", dependencies: ["PolyStoreSearch", "PolyStoreSearchIndex", "SeededRandom", "TestSupport"],
            swiftSettings: settings),
        // Searches beside SQLite's FTS5, and beside a text with a concordance.
        .testTarget(
            name: "PolyStoreSearchWitnessTests",
            dependencies: [
                "CSQLite", "EngineTestSupport", "PolyStoreBackend", "PolyStoreQuery", "PolyStoreSearch", "SeededRandom", "TestSupport",
            ],
            swiftSettings: settings),
        // Full-text indexes in the stores of every engine.
        .testTarget(
            name: "PolyStoreSearchStoreTests",
            dependencies: [
                "EngineTestSupport", "PolyStoreBackend", "PolyStoreKeyValue", "PolyStoreLMDB", "PolyStoreLevelDB", "PolyStoreMemory",
                "PolyStoreQuery", "PolyStoreSearch", "PolyStoreSearchIndex", "PolyStoreSQLite", "CSQLite", "SeededRandom", "SmallStores",
                "TestSupport",
                "engine-child",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "PolyStoreCollectionsTests", dependencies: ["PolyStoreCollections", "SeededRandom"], swiftSettings: settings),
        .testTarget(
            name: "PolyStoreBackendTests",
            dependencies: ["PolyStoreBackend", "PolyStoreRuns", "CRecordBytes", "SeededRandom", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "PolyStoreQueryTests", dependencies: ["PolyStoreQuery", "PolyStoreBackend", "SeededRandom"], swiftSettings: settings),
        // Random inputs for the readers of records, in the tests and in Tests/Fuzz/run.sh.
        .target(
            name: "FormatFuzzing", dependencies: ["PolyStoreFormats", "SeededRandom"], path: "Tests/Fuzz/Support", swiftSettings: settings),
        .executableTarget(name: "fuzz-child", dependencies: ["FormatFuzzing"], path: "Tests/Fuzz/Child", swiftSettings: settings),
        .testTarget(
            name: "PolyStoreGzipTests", dependencies: ["PolyStoreGzip", "PolyStoreFormats", "ChildProcesses", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "PolyStoreFormatsTests", dependencies: ["PolyStoreFormats", "FormatFuzzing", "TestSupport"], swiftSettings: settings),
        .testTarget(
            name: "PolyStoreKeyValueTests",
            dependencies: [
                "PolyStoreKeyValue", "PolyStoreConformance", "PolyStoreSearch", "PolyStoreSearchIndex", "EngineTestSupport", "SeededRandom",
                "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "PolyStoreLMDBTests",
            dependencies: [
                "CLMDB", "EngineTestSupport", "PolyStoreConformance", "PolyStoreKeyValue", "PolyStoreLMDB", "TestSupport", "engine-child",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "PolyStoreLevelDBTests",
            dependencies: [
                "PolyStoreLevelDB", "PolyStoreKeyValue", "CLevelDB", "CRecordBytes", "EngineTestSupport", "engine-child", "TestSupport",
            ],
            swiftSettings: settings),
        // Skipped if no server of PostgreSQL can be started.
        .testTarget(
            name: "PolyStorePostgreSQLTests",
            dependencies: [
                "PolyStorePostgreSQL", "PolyStoreBackend", "PolyStoreConformance", "PolyStoreCore", "PolyStoreMigration", "PolyStoreQuery",
                "PolyStoreSearch", "PolyStoreSearchIndex", "PolyStoreSQLite", "EngineTestSupport", "PostgreSQLServer", "PostgreSQLTarget",
                "SeededRandom", "TestModels",
                "namespaces-child",
            ],
            swiftSettings: settings),
        // Two machines that share a store of PostgreSQL, run by Tests/Namespaces/run.sh.
        .executableTarget(
            name: "namespaces-child", dependencies: ["PolyStoreBackend", "PolyStoreCore", "PolyStorePostgreSQL", "TestModels"],
            path: "Tests/Namespaces/Child", swiftSettings: settings),
        .testTarget(
            name: "PolyStoreProcessTests",
            dependencies: ["PolyStoreSQLite", "EngineTestSupport", "engine-child", "kill-child", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "PolyStoreSQLiteTests",
            dependencies: ["CFlushProbe", "PolyStoreSQLite", "PolyStoreQuery", "CSQLite", "SeededRandom", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "PolyStoreCoreTests",
            dependencies: [
                "PolyStoreCollections", "PolyStoreConditions", "PolyStoreCore", "PolyStoreBackend", "PolyStoreQuery", "PolyStoreRuns",
                "SeededRandom",
                "PolyStoreMemory",
                "PolyStoreSQLite",
                "PolyStoreLMDB", "PolyStoreLevelDB", "CSQLite", "TestModels", "TestSupport",
            ],
            swiftSettings: settings),
        // Runs the compiler with the macros. Without a dependency on the target of the macros, which would build every module of the tests for the host once more.
        .testTarget(name: "PolyStoreMacrosTests", dependencies: ["PolyStore", "ChildProcesses"], swiftSettings: settings),
        // What the documents of earlier frameworks show, in today's words.
        .testTarget(
            name: "ReferenceTests",
            dependencies: ["PolyStore", "PolyStoreMemory", "PolyStoreSQLite", "TestSupport"],
            path: "Tests/References", swiftSettings: settings),
        // Importers, references and files, on every backend.
        .testTarget(
            name: "PolyStoreImportTests",
            dependencies: [
                "PolyStore", "PolyStoreBackend", "PolyStoreGzip", "PolyStoreMemory", "PolyStoreSQLite", "SeededRandom", "TestSupport",
            ],
            swiftSettings: settings),
        // Random pairs of versions with an oracle, and the process that is killed while it migrates one of them.
        .target(
            name: "MigrationMatrix", dependencies: ["PolyStoreBackend", "PolyStoreCore", "SeededRandom"], path: "Tests/Matrix/Support",
            swiftSettings: settings),
        .executableTarget(
            name: "matrix-child", dependencies: ["MigrationMatrix", "PolyStoreBackend", "PolyStoreCore", "SmallStores"],
            path: "Tests/Matrix/Child", swiftSettings: settings),
        // Migrations, on every backend.
        .testTarget(
            name: "PolyStoreMigrationTests",
            dependencies: [
                "PolyStore", "PolyStoreBackend", "PolyStoreCore", "PolyStoreKeyValue", "PolyStoreMemory", "PolyStoreSQLite", "SeededRandom",
                "EngineTestSupport", "MigrationMatrix", "matrix-child", "migration-child", "TestSupport",
            ],
            swiftSettings: settings),
        // Observed lists, monitors, sequences and values, on every backend.
        .testTarget(
            name: "PolyStoreObserveTests",
            dependencies: [
                "PolyStore", "PolyStoreBackend", "PolyStoreCore", "PolyStoreMemory", "PolyStoreRuns", "PolyStoreSQLite", "SeededRandom",
                "TestSupport",
            ],
            swiftSettings: settings),
        // History, and commits of other processes.
        .target(
            name: "HistoryTestSupport", dependencies: ["PolyStore", "SeededRandom", "SmallStores"], path: "Tests/History/Support",
            swiftSettings: settings),
        // The other process, and the program that measures how soon its commits are noticed.
        .executableTarget(
            name: "history-child", dependencies: ["PolyStore", "ChildProcesses", "HistoryTestSupport", "SmallStores"],
            path: "Tests/History/Child",
            swiftSettings: settings),
        .testTarget(
            name: "PolyStoreHistoryTests",
            dependencies: [
                "PolyStore", "PolyStoreAttributes", "PolyStoreCore", "PolyStoreBackend", "HistoryTestSupport", "SmallStores",
                "EngineTestSupport",
                "SeededRandom", "history-child", "TestSupport",
            ], swiftSettings: settings),
        // Stores that are converted, and the process that is killed while it converts one.
        .target(
            name: "ConversionTestSupport", dependencies: ["PolyStoreBackend", "SeededRandom"], path: "Tests/Conversion/Support",
            swiftSettings: settings),
        .executableTarget(
            name: "conversion-child",
            dependencies: [
                "PolyStoreBackend", "PolyStoreCore", "PolyStoreLMDB", "PolyStoreLevelDB", "PolyStorePostgreSQL", "PolyStoreSQLite",
            ],
            path: "Tests/Conversion/Child", swiftSettings: settings),
        .testTarget(
            name: "PolyStoreConversionTests",
            dependencies: [
                "ConversionTestSupport", "EngineTestSupport", "PolyStoreBackend", "PolyStoreCore", "PolyStoreLMDB", "PolyStoreLevelDB",
                "PolyStoreMemory",
                "PolyStorePostgreSQL", "PolyStoreSQLite", "PostgreSQLServer", "SeededRandom", "TestSupport", "conversion-child",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "PolyStoreDynamicTests",
            dependencies: [
                "PolyStoreBackend", "PolyStoreCore", "PolyStoreFormats", "PolyStoreGzip", "PolyStoreMemory", "PolyStorePostgreSQL",
                "PolyStoreSQLite", "PostgreSQLServer", "TestModels", "TestSupport",
            ],
            swiftSettings: settings),
        // Generated classes, which are compiled, and the generator of them.
        .testTarget(
            name: "PolyStoreSourceTests",
            dependencies: [
                "CSQLite", "PolyStore", "PolyStoreBackend", "PolyStoreMemory", "PolyStorePostgreSQL", "PolyStoreSQLite", "PolyStoreTables",
                "PostgreSQLServer", "SeededRandom", "TestSupport",
            ], swiftSettings: settings),
        .testTarget(
            name: "PolyStoreTests",
            dependencies: ["PolyStore", "PolyStoreBackend", "PolyStoreMemory", "PolyStoreSQLite", "TestSupport"],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
