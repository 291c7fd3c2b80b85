// swift-tools-version:6.2
import PackageDescription

// Like a third party's package: it depends only on PolyStore's contract, record layer and conformance suite.
let settings: [SwiftSetting] = Context.environment["POLYSTORE_WARNINGS_AS_ERRORS"] == nil ? [] : [.treatAllWarnings(as: .error)]

let package = Package(
    name: "CustomBackend",
    platforms: [.macOS(.v15)],
    products: [.library(name: "FileStore", targets: ["FileStore"])],
    dependencies: [.package(name: "PolyStore", path: "../..")],
    targets: [
        .target(
            name: "FileStore",
            dependencies: [
                .product(name: "PolyStoreBackend", package: "PolyStore"), .product(name: "PolyStoreKeyValue", package: "PolyStore"),
            ], swiftSettings: settings),
        // A store that is used through the contract alone: `swift run --package-path Examples/CustomBackend notes`.
        .executableTarget(
            name: "notes", dependencies: ["FileStore", .product(name: "PolyStoreBackend", package: "PolyStore")], swiftSettings: settings),
        // Killed by the tests.
        .executableTarget(
            name: "filestore-child",
            dependencies: [
                "FileStore", .product(name: "PolyStoreBackend", package: "PolyStore"),
                .product(name: "PolyStoreConformance", package: "PolyStore"),
            ], swiftSettings: settings),
        .testTarget(
            name: "FileStoreTests",
            dependencies: ["FileStore", "filestore-child", .product(name: "PolyStoreConformance", package: "PolyStore")],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
