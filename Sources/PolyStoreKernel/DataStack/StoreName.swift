import PolyStoreBackend

/// A name of a store, compared by its bytes. File names that differ in the composition of a character are equal as strings, and are two files in most file
/// systems.
struct StoreName: Hashable, Sendable {
    private let bytes: [UInt8]

    init(_ name: String) { bytes = Array(name.utf8) }
}

extension StoreConfiguration {
    /// The names of the store: its URL and, if its file or folder exists, its engine and the identity of the file, which can have several names.
    var names: Set<StoreName> {
        guard isShared, let file = try? StorePath(path: location).identity() else { return [StoreName(url)] }
        return [StoreName(url), StoreName("\(url.prefix { $0 != ":" }):#\(file)")]
    }
}
