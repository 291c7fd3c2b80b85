// swift-tools-version:6.2
import PackageDescription

// Like a user's package: it depends on PolyStore, and on libraries that only the examples need.
let settings: [SwiftSetting] = Context.environment["POLYSTORE_WARNINGS_AS_ERRORS"] == nil ? [] : [.treatAllWarnings(as: .error)]

let package = Package(
    name: "Examples",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "PolyStore", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.5.0"),
    ],
    targets: [
        // Real data, end to end: `make demo`.
        .executableTarget(
            name: "atlas",
            dependencies: [
                .product(name: "PolyStore", package: "PolyStore"), .product(name: "PolyStoreMemory", package: "PolyStore"),
                .product(name: "PolyStoreSQLite", package: "PolyStore"), .product(name: "PolyStoreLMDB", package: "PolyStore"),
                .product(name: "PolyStoreLevelDB", package: "PolyStore"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], path: "Atlas", resources: [.copy("Data")], swiftSettings: settings),
        // The README's program.
        .executableTarget(
            name: "quickstart",
            dependencies: [.product(name: "PolyStore", package: "PolyStore"), .product(name: "PolyStoreSQLite", package: "PolyStore")],
            path: "QuickStart", swiftSettings: settings),
        // The program of the modelling guide.
        .executableTarget(
            name: "shop",
            dependencies: [.product(name: "PolyStore", package: "PolyStore"), .product(name: "PolyStoreMemory", package: "PolyStore")],
            path: "Shop", swiftSettings: settings),
        // A list that is updated while another process writes.
        .executableTarget(
            name: "livelist",
            dependencies: [
                .product(name: "PolyStore", package: "PolyStore"), .product(name: "PolyStoreSQLite", package: "PolyStore"),
                .product(name: "PolyStoreLMDB", package: "PolyStore"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], path: "LiveList", swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
