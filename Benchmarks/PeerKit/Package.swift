// swift-tools-version:6.2
import PackageDescription

// The data set, the clock and the checksums that all programs in Swift share. A separate package, so that the peers do not depend on PolyStore.
let package = Package(
    name: "PeerKit",
    platforms: [.macOS(.v14)],
    products: [.library(name: "PeerKit", targets: ["PeerKit"])],
    targets: [.target(name: "PeerKit")],
    swiftLanguageModes: [.v6]
)
