import CLevelDB
import PolyStoreBackend

/// LevelDB's words as errors of the framework.
enum LevelDBError {
    /// - Parameter message: is freed.
    static func error(_ message: UnsafeMutablePointer<CChar>?, _ doing: String, _ path: String) -> StoreError {
        let told = message.map { String(cString: $0) } ?? ""
        // Without the path, which may have any words in it.
        let words = told.split(separator: path, omittingEmptySubsequences: false).joined(separator: "…")
        if let message { leveldb_free(message) }
        let code: StoreError.Code
        let sentence: String
        if words.hasPrefix("Corruption") || words.hasSuffix("Invalid argument") {
            // The second: a damaged footer has led past the end of a file.
            (code, sentence) = (.corrupt, "\(doing) failed: the store \(path) is damaged.")
        } else if words.contains("does not match existing comparator") {
            (code, sentence) = (.notAStore, "The folder \(path) is a LevelDB database of somebody else. It was left as it is.")
        } else if words.contains("No space left") || words.contains("quota") || words.contains("File too large") {
            (code, sentence) = (.full, "There is no room left for \(path).")
        } else if words.hasPrefix("IO error: lock") {
            (code, sentence) = (.busy, "The store \(path) is open in another process, and LevelDB serves one at a time.")
        } else {
            (code, sentence) = (.io, "\(doing) failed: \(path).")
        }
        return StoreError(code, sentence, url: path, underlying: told.isEmpty ? nil : told)
    }
}
