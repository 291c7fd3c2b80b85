import PolyStoreBackend
import PolyStorePlatform

/// The file `NAME.conversion` beside the target of a conversion in a file or folder. The process that converts has a lock on it.
///
/// Its text marks it as such a file, and states whether the conversion has begun to create the target. Any other file with this name stays as it is.
final class ConversionLockFile {
    private let path: StorePath
    private var descriptor: Int32?
    /// A Boolean value that indicates whether this conversion, or an interrupted one before it, has begun to create the target.
    private(set) var hasBegun: Bool

    private static let mark = [UInt8]("The lock file of a conversion of PolyStore.\n".utf8)
    private static let record = mark + [UInt8]("It has begun to create the target.\n".utf8)

    private static func path(beside location: String) -> StorePath { StorePath(path: location + ".conversion") }

    /// Returns whether there is a file, or anything else, with the name of the lock file.
    static func exists(beside location: String) throws -> Bool { try path(beside: location).kind() != .absent }

    /// Opens and locks the file, and creates it if there is none.
    /// - Throws: `busy` if another conversion has the lock; `io` for a file that no conversion has written, which is not changed; `full`.
    init(beside location: String) throws {
        path = Self.path(beside: location)
        let kind = try path.kind()
        // A greater file is not opened: it can be a store, and closing it would release the locks of this process on it.
        if case .file(let size) = kind, size > Self.record.count { throw Self.foreign(path, location) }
        if kind == .other { throw Self.foreign(path, location) }
        let opened: Int32
        do { opened = try path.openLocked(mode: 0o600) } catch let error as StoreError {
            switch error.code {
            case .busy: throw ConversionTarget.busyError(location)
            case .notAStore: throw Self.foreign(path, location)
            default:
                throw StoreError(
                    error.code,
                    "\(location) cannot be created, because the lock file of the conversion cannot be created beside it. Make the folder writable, or choose another target.",
                    location: location, engineCode: error.engineCode, underlying: error.underlying ?? error.message)
            }
        }
        descriptor = opened
        hasBegun = false
        do {
            let text = try Self.text(opened, path)
            hasBegun = text == Self.record
            if text.isEmpty, kind == .absent {
                try write(Self.mark)
            } else if text != Self.mark, !hasBegun {
                throw Self.foreign(path, location)
            }
        } catch {
            unlock(removing: kind == .absent)
            throw error
        }
    }

    deinit { unlock(removing: false) }

    private static func foreign(_ path: StorePath, _ location: String) -> StoreError {
        StoreError(
            .io,
            "\(path.path) exists and is not the lock file of a conversion, which has this name. Rename or delete it, or choose another target.",
            location: location)
    }

    /// Returns the text of the file, and one byte more than the longest of a lock file if it is longer.
    private static func text(_ descriptor: Int32, _ path: StorePath) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: record.count + 1)
        let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        guard count >= 0 else { throw path.refused("The file cannot be read", errno) }
        return [UInt8](bytes.prefix(count))
    }

    private func write(_ text: [UInt8]) throws {
        guard let descriptor else { return }
        let count = text.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        // A part of it is written if the disk becomes full meanwhile.
        guard count == text.count else { throw path.refused("The file cannot be written", count < 0 ? errno : ENOSPC) }
    }

    /// Writes durably that the target is created from now on.
    func begin() throws {
        guard !hasBegun, let descriptor else { return }
        try write(Self.record)
        try path.flush(descriptor)
        hasBegun = true
    }

    /// Releases the lock.
    /// - Parameter removing: Whether the file is removed. It stays beside an incomplete target.
    func unlock(removing: Bool) {
        guard let descriptor else { return }
        self.descriptor = nil
        if removing { try? path.remove() }
        StorePath.closeLocked(descriptor)
    }
}
