// swift-tools-version:6.2
import PackageDescription

// A separate package, so that users of PolyStore do not build it. It uses the object layer without macros, which avoids a release build of swift-syntax:
// Models contains the classes with @Model, Sources/bench/Models/Expanded what the macros generate. ExpandedModelTests of PolyStore compares them.
let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "PolyStore", path: ".."), .package(path: "PeerKit")],
    targets: [
        .executableTarget(
            name: "bench",
            dependencies: [
                "PeerKit", .product(name: "PolyStoreCore", package: "PolyStore"), .product(name: "PolyStoreSQLite", package: "PolyStore"),
                .product(name: "PolyStoreMemory", package: "PolyStore"), .product(name: "PolyStoreLMDB", package: "PolyStore"),
                .product(name: "PolyStoreLevelDB", package: "PolyStore"), .product(name: "PolyStoreBackend", package: "PolyStore"),
                .product(name: "PolyStoreFormats", package: "PolyStore"), .product(name: "PolyStoreQuery", package: "PolyStore"),
                .product(name: "PolyStorePostgreSQL", package: "PolyStore"),
            ]),
        // The limit of an in-memory store: dictionaries and sorted arrays.
        .executableTarget(name: "peer-memory", dependencies: ["PeerKit"], path: "Peers/Memory"),
    ],
    swiftLanguageModes: [.v6]
)
