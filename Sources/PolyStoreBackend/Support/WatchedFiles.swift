#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The files of an open store, as they were when it was opened: to notice that somebody deleted or replaced them. An engine goes on writing to a deleted
/// file without an error, and everything it acknowledges is lost when the file is closed.
package struct WatchedFiles: Sendable {
    private struct File: Sendable {
        let path: String
        /// The path as the system takes it: made once, as it is asked about at each commit.
        let name: ContiguousArray<CChar>
        let device: dev_t
        let inode: ino_t
    }

    private var files: [File] = []

    package init() {}

    /// Remembers which files the paths name now.
    /// - Throws: `io`.
    package init(_ paths: [String]) throws { for path in paths { try add(path) } }

    package var count: Int { files.count }

    package mutating func add(_ path: String) throws {
        var found = stat()
        guard stat(path, &found) == 0 else { throw FilePlace(path: path).refused("The file cannot be reached", errno) }
        files.append(File(path: path, name: path.utf8CString, device: found.st_dev, inode: found.st_ino))
    }

    /// Costs a system call for each file.
    /// - Parameter place: where the store is, for the message.
    /// - Throws: `io` where a path names no file, or another one.
    package func check(_ place: String) throws {
        for file in files {
            var found = stat()
            let result = file.name.withUnsafeBufferPointer { name in name.baseAddress.map { stat($0, &found) } ?? -1 }
            let code = result == 0 ? 0 : errno
            if code == 0, found.st_dev == file.device, found.st_ino == file.inode { continue }
            let what = code == 0 ? "replaced by another file" : code == ENOENT ? "deleted" : "made unreachable"
            throw StoreError(
                .io,
                "The store \(place) cannot be written: \(file.path) was \(what) while the store was open, and what is written would be lost. "
                    + "Close the store; put the file back or open it anew.",
                url: place, engineCode: Int(code), underlying: code == 0 ? nil : String(cString: strerror(code)))
        }
    }
}
