import PolyStoreBackend

/// A name of a store, compared by its bytes. File names that differ in the composition of a character are equal as strings, and are two files in most file
/// systems.
package struct StoreName: Hashable, Sendable {
    private let bytes: [UInt8]

    package init(_ name: String) { bytes = Array(name.utf8) }
}

extension StoreConfiguration {
    /// The names of the store: its URL, and its engine with the identity that its backend gives or with that of its file or folder, if it exists.
    package var names: Set<StoreName> {
        guard isShared else { return [StoreName(url)] }
        let identity: String? = remote.map { try? $0.identity() } ?? (try? StorePath(path: location).identity())
        guard let identity else { return [StoreName(url)] }
        return [StoreName(url), StoreName("\(url.prefix { $0 != ":" }):#\(identity)")]
    }
}
