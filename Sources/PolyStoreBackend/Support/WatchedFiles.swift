import PolyStorePlatform

/// The identities of the files of an open store, which detect that a file was deleted or replaced. An engine can write to a deleted
/// file without an error, and every acknowledged commit is lost when the file is closed.
package struct WatchedFiles: Sendable {
    private struct File: Sendable {
        let path: String
        /// The path as a C string, created once because every commit checks it.
        let name: ContiguousArray<CChar>
        let device: dev_t
        let inode: ino_t
    }

    private var files: [File] = []

    package init() {}

    /// Records the current identities of the files.
    /// - Throws: `io`.
    package init(_ paths: [String]) throws { for path in paths { try add(path) } }

    package var count: Int { files.count }

    package mutating func add(_ path: String) throws {
        var found = stat()
        guard stat(path, &found) == 0 else { throw StorePath(path: path).refused("The file cannot be reached", errno) }
        files.append(File(path: path, name: path.utf8CString, device: found.st_dev, inode: found.st_ino))
    }

    /// Checks that every path refers to its original file. Costs one system call per file.
    /// - Parameter location: The path or URL of the store, for the error message.
    /// - Throws: `io` if a file is missing or was replaced.
    package func check(_ location: String) throws {
        for file in files {
            var found = stat()
            let result = file.name.withUnsafeBufferPointer { name in name.baseAddress.map { stat($0, &found) } ?? -1 }
            let code = result == 0 ? 0 : errno
            if code == 0, found.st_dev == file.device, found.st_ino == file.inode { continue }
            let what = code == 0 ? "replaced by another file" : code == ENOENT ? "deleted" : "made unreachable"
            throw StoreError(
                .io,
                "The store \(location) cannot be written: \(file.path) was \(what) while the store was open, and what is written would be lost. "
                    + "Close the store; put the file back or open the store again.",
                location: location, engineCode: Int(code), underlying: code == 0 ? nil : String(cString: strerror(code)))
        }
    }
}
