// swift-tools-version:6.1
import PackageDescription

let package = Package(
    name: "PolyStore",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11)],
    products: [
        .library(name: "PolyStoreBackend", targets: ["PolyStoreBackend"]),
        .library(name: "PolyStoreCore", targets: ["PolyStoreCore"]),
        .library(name: "PolyStoreMemory", targets: ["PolyStoreMemory"]),
        .library(name: "PolyStoreSQLite", targets: ["PolyStoreSQLite"]),
        .library(name: "PolyStoreConformance", targets: ["PolyStoreConformance"]),
    ],
    targets: [
        // The contract that a backend sees.
        .target(name: "PolyStoreBackend"),
        // The object layer, free of macros.
        .target(name: "PolyStoreCore", dependencies: ["PolyStoreBackend"]),

        // Backends: each knows the contract and nothing above it.
        .target(name: "PolyStoreMemory", dependencies: ["PolyStoreBackend"], path: "Backends/Memory"),
        .systemLibrary(
            name: "CSQLite", path: "Backends/System/CSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite3"])]),
        .target(name: "PolyStoreSQLite", dependencies: ["PolyStoreBackend", "CSQLite"], path: "Backends/SQLite"),

        // The suite that proves a backend, for anybody's backend.
        .target(name: "PolyStoreConformance", dependencies: ["PolyStoreBackend"], path: "Conformance/PolyStoreConformance"),
        .testTarget(
            name: "ConformanceTests", dependencies: ["PolyStoreConformance", "PolyStoreMemory", "PolyStoreSQLite"],
            path: "Conformance/ConformanceTests"),

        .testTarget(name: "PolyStoreBackendTests", dependencies: ["PolyStoreBackend"]),
        .testTarget(name: "PolyStoreSQLiteTests", dependencies: ["PolyStoreSQLite", "CSQLite"]),
        .testTarget(name: "PolyStoreCoreTests", dependencies: ["PolyStoreCore", "PolyStoreMemory", "PolyStoreSQLite"]),
    ],
    swiftLanguageModes: [.v6]
)
