import CLevelDB
import PolyStoreBackend

/// Converts LevelDB's messages to errors of the framework.
enum LevelDBError {
    /// - Parameter message: The message, which is freed.
    static func error(_ message: UnsafeMutablePointer<CChar>?, _ doing: String, _ path: String) -> StoreError {
        let text = message.map { String(cString: $0) } ?? ""
        // Excludes the path, which may contain any words.
        let words = text.split(separator: path, omittingEmptySubsequences: false).joined(separator: "…")
        if let message { leveldb_free(message) }
        let code: StoreError.Code
        let sentence: String
        if words.hasPrefix("Corruption") || words.hasSuffix("Invalid argument") {
            // The second message: a damaged footer refers to an offset past the end of the file.
            (code, sentence) = (.corrupt, "\(doing) failed: the store \(path) is damaged.")
        } else if words.contains("does not match existing comparator") {
            (code, sentence) = (.notAStore, "The folder \(path) is a LevelDB database of another program. It was left as it is.")
        } else if words.contains("No space left") || words.contains("quota") || words.contains("File too large") {
            (code, sentence) = (.full, "The disk of \(path) is full.")
        } else if words.hasPrefix("IO error: lock") {
            (code, sentence) = (.busy, "The store \(path) is open in another process, and LevelDB serves one at a time.")
        } else {
            (code, sentence) = (.io, "\(doing) failed: \(path).")
        }
        return StoreError(code, sentence, url: path, underlying: text.isEmpty ? nil : text)
    }
}
