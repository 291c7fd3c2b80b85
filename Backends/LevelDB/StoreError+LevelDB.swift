import CLevelDB
import PolyStoreBackend

extension StoreError {
    /// Creates a store error from a message of LevelDB, which reports no codes.
    /// - Parameters:
    ///   - message: The message, which is freed.
    ///   - what: The operation that failed: "Writing", "Reading".
    ///   - path: The path of the store.
    init(levelDB message: UnsafeMutablePointer<CChar>?, _ what: String, path: String) {
        let text = message.map { String(cString: $0) } ?? ""
        if let message { leveldb_free(message) }
        // Excludes the path, which may contain any words.
        let words = text.split(separator: path, omittingEmptySubsequences: false).joined(separator: "…")
        let (code, sentence): (Code, String) =
            if words.hasPrefix("Corruption") || words.hasSuffix("Invalid argument") {
                // The second message: a damaged footer refers to an offset past the end of the file.
                (.corrupt, "\(what) failed: the store \(path) is damaged. Verify it, or restore it from a backup.")
            } else if words.contains("does not match existing comparator") {
                (.notAStore, "The folder \(path) is a LevelDB database of another program. It was left unchanged.")
            } else if words.contains("No space left") || words.contains("quota") || words.contains("File too large") {
                (.full, "\(what) failed: the disk of \(path) is full. Free disk space and try again.")
            } else if words.contains("already held by process") {
                // The lock of this library is on another file by now.
                (
                    .busy,
                    "The store \(path) is still open in this process, and its files were deleted or replaced since. Close that store first."
                )
            } else if words.hasPrefix("IO error: lock") {
                (.busy, "The store \(path) is open in another process, and LevelDB supports one process at a time. Close it there.")
            } else {
                (.io, "\(what) failed: the operating system could not read or write \(path). Check the disk and the permissions.")
            }
        self.init(code, sentence, location: path, underlying: text.isEmpty ? nil : text)
    }
}
