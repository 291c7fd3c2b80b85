// swift-tools-version:6.2
import PackageDescription

// The command-line tool. It uses public interfaces only, and is a package of its own so that programs that use PolyStore do not
// get the libraries that only the tool needs.
let settings: [SwiftSetting] = Context.environment["POLYSTORE_WARNINGS_AS_ERRORS"] == nil ? [] : [.treatAllWarnings(as: .error)]

let package = Package(
    name: "polystore-tool",
    platforms: [.macOS(.v15)],
    products: [.executable(name: "polystore", targets: ["polystore"])],
    dependencies: [
        .package(name: "PolyStore", path: "../.."),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.5.0"),
    ],
    targets: [
        .executableTarget(
            name: "polystore",
            dependencies: [
                .product(name: "PolyStoreCore", package: "PolyStore"), .product(name: "PolyStoreBackend", package: "PolyStore"),
                .product(name: "PolyStoreFormats", package: "PolyStore"), .product(name: "PolyStoreGzip", package: "PolyStore"),
                .product(name: "PolyStoreSQLite", package: "PolyStore"), .product(name: "PolyStoreLMDB", package: "PolyStore"),
                .product(name: "PolyStoreLevelDB", package: "PolyStore"),
                .product(name: "PolyStorePostgreSQL", package: "PolyStore"),
                .product(name: "PolyStoreTables", package: "PolyStore"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], swiftSettings: settings),
        .testTarget(
            name: "ToolTests",
            dependencies: [
                "polystore", .product(name: "PolyStore", package: "PolyStore"), .product(name: "PolyStoreBackend", package: "PolyStore"),
                .product(name: "PolyStoreSQLite", package: "PolyStore"),
                .product(name: "PolyStoreLMDB", package: "PolyStore"), .product(name: "PolyStoreLevelDB", package: "PolyStore"),
                .product(name: "PolyStorePostgreSQL", package: "PolyStore"),
                .product(name: "postgresql-server", package: "PolyStore"),
            ], exclude: ["Transcripts"], swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
