import CLevelDB
import PolyStoreBackend

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The folder of a LevelDB database, and the lock on it.
struct LevelDBFolder {
    let place: FilePlace
    private var path: String { place.path }

    /// Makes sure that there is a folder that is empty or LevelDB's.
    func prepare(mode: UInt32) throws {
        switch try place.kind() {
        case .directory:
            if access(path + "/CURRENT", F_OK) != 0, try !isEmpty() {
                throw StoreError(
                    .notAStore, "The folder \(path) is no LevelDB database: it holds other files. It was left as it is.", url: path)
            }
        case .absent:
            guard mkdir(path, mode_t(mode)) == 0 || errno == EEXIST else { throw place.refused("The folder cannot be made", errno) }
        case .file, .other:
            throw StoreError(.notAStore, "\(path) is a file, and a LevelDB database is a folder. It was left as it is.", url: path)
        }
    }

    /// Whether nothing is in it but what an opening that did not come far leaves behind.
    private func isEmpty() throws -> Bool {
        guard let folder = opendir(path) else { throw place.refused("The folder cannot be read", errno) }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            if ![".", "..", Self.lockName, "LOCK", "LOG", "LOG.old"].contains(name) { return false }
        }
        return true
    }

    static let lockName = "polystore.lock"

    /// Takes the lock of this project's own, which belongs to the descriptor: LevelDB's belongs to the process, and a second opening that fails would
    /// take it away from the first.
    /// - Returns: the descriptor to close at the end.
    /// - Throws: `busy`.
    func lock() throws -> Int32 {
        do { return try FilePlace(path: path + "/" + Self.lockName).openLocked(mode: 0o600) } catch var error as StoreError {
            error.url = path
            if error.code == .busy { error.message = "The store \(path) is open in another process, and LevelDB serves one at a time." }
            throw error
        }
    }

    static func unlock(_ descriptor: Int32) { FilePlace.closeLocked(descriptor) }
}
