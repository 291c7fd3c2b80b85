// swift-tools-version:6.2
import PackageDescription

// The command-line tool. It uses public interfaces only, and is a package of its own so that programs that use PolyStore do not
// get the libraries that only the tool needs.
let settings: [SwiftSetting] = Context.environment["POLYSTORE_WARNINGS_AS_ERRORS"] == nil ? [] : [.treatAllWarnings(as: .error)]

/// The dependencies with which the tests of the browser create stores.
let stores: [Target.Dependency] =
    ["PolyStore", "PolyStoreBackend", "PolyStoreSQLite", "PolyStoreLMDB", "PolyStoreLevelDB", "PolyStorePostgreSQL", "postgresql-server"]
    .map { .product(name: $0, package: "PolyStore") }

let package = Package(
    name: "polystore-tool",
    platforms: [.macOS(.v15)],
    products: [.executable(name: "polystore", targets: ["polystore"])],
    dependencies: [
        .package(name: "PolyStore", path: "../.."),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.5.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.0.0"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache.git", from: "2.0.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.0.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.0.0"),
    ],
    targets: [
        .target(name: "BrowserDrawing", swiftSettings: settings),
        .target(
            name: "BrowserData",
            dependencies: [
                .product(name: "PolyStoreCore", package: "PolyStore"), .product(name: "PolyStoreBackend", package: "PolyStore"),
                .product(name: "PolyStoreFormats", package: "PolyStore"),
            ], swiftSettings: settings),
        .target(
            name: "StoreBrowser",
            dependencies: [
                "BrowserDrawing", "BrowserData",
                .product(name: "PolyStoreCore", package: "PolyStore"), .product(name: "PolyStoreBackend", package: "PolyStore"),
                .product(name: "PolyStoreFormats", package: "PolyStore"),
                .product(name: "Hummingbird", package: "hummingbird"), .product(name: "Mustache", package: "swift-mustache"),
                .product(name: "Logging", package: "swift-log"), .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
            ], resources: [.embedInCode("Resources")], swiftSettings: settings),
        .executableTarget(
            name: "polystore",
            dependencies: [
                "BrowserData", "StoreBrowser",
                .product(name: "PolyStoreCore", package: "PolyStore"), .product(name: "PolyStoreBackend", package: "PolyStore"),
                .product(name: "PolyStoreFormats", package: "PolyStore"), .product(name: "PolyStoreGzip", package: "PolyStore"),
                .product(name: "PolyStoreSQLite", package: "PolyStore"), .product(name: "PolyStoreLMDB", package: "PolyStore"),
                .product(name: "PolyStoreLevelDB", package: "PolyStore"), .product(name: "PolyStorePostgreSQL", package: "PolyStore"),
                .product(name: "PolyStoreTables", package: "PolyStore"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], swiftSettings: settings),
        .target(name: "StoreTesting", path: "Tests/Support", swiftSettings: settings),
        .testTarget(
            name: "ToolTests",
            dependencies: [
                "polystore", "StoreTesting", .product(name: "PolyStore", package: "PolyStore"),
                .product(name: "PolyStoreBackend", package: "PolyStore"),
                .product(name: "PolyStoreSQLite", package: "PolyStore"),
                .product(name: "PolyStoreLMDB", package: "PolyStore"), .product(name: "PolyStoreLevelDB", package: "PolyStore"),
                .product(name: "PolyStorePostgreSQL", package: "PolyStore"),
                .product(name: "postgresql-server", package: "PolyStore"),
            ], exclude: ["Transcripts"], swiftSettings: settings),
        .executableTarget(
            name: "browser-measurement",
            dependencies: [
                "BrowserData", .product(name: "PolyStoreCore", package: "PolyStore"),
                .product(name: "PolyStoreBackend", package: "PolyStore"),
                .product(name: "PolyStoreSQLite", package: "PolyStore"), .product(name: "PolyStoreLMDB", package: "PolyStore"),
                .product(name: "PolyStoreLevelDB", package: "PolyStore"), .product(name: "PolyStorePostgreSQL", package: "PolyStore"),
            ], path: "Measurements", exclude: ["datasette.py", "run.py"], swiftSettings: settings),
        .executableTarget(name: "browser-stores", dependencies: stores, path: "Tests/Browser/Stores", swiftSettings: settings),
        .testTarget(name: "DrawingTests", dependencies: ["BrowserDrawing"], exclude: ["Golden"], swiftSettings: settings),
        .testTarget(name: "BrowserDataTests", dependencies: ["BrowserData", "StoreTesting"] + stores, swiftSettings: settings),
        .testTarget(name: "BrowserChangeTests", dependencies: ["BrowserData", "StoreTesting"] + stores, swiftSettings: settings),
        .testTarget(name: "BrowserTests", dependencies: ["BrowserData", "StoreBrowser", "StoreTesting"] + stores, swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
