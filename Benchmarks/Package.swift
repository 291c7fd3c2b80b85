// swift-tools-version:6.2
import PackageDescription

// A package of its own, so that nobody who uses PolyStore builds it. The object layer is used without macros: what the macro writes is
// written out in Sources/bench/Models, and a release build of swift-syntax is spared.
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
                .product(name: "PolyStoreFormats", package: "PolyStore"),
            ]),
        // The limit of a store in memory: dictionaries and sorted arrays.
        .executableTarget(name: "peer-memory", dependencies: ["PeerKit"], path: "Peers/Memory"),
    ],
    swiftLanguageModes: [.v6]
)
