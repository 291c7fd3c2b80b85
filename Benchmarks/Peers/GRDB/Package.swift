// swift-tools-version:6.2
import PackageDescription

// GRDB, for comparison. A separate package, so that only the benchmarks download GRDB.
let package = Package(
    name: "peer-grdb",
    platforms: [.macOS(.v14)],
    dependencies: [.package(path: "../../PeerKit"), .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0")],
    targets: [.executableTarget(name: "peer-grdb", dependencies: ["PeerKit", .product(name: "GRDB", package: "GRDB.swift")])],
    swiftLanguageModes: [.v6]
)
