import Foundation
import PolyStoreBackend
import PolyStoreKernel

/// A check of the free disk space against the size of a store.
enum StoreRoom {
    /// - Parameter copies: The required space, as a multiple of the size of the store.
    /// - Throws: `full`.
    static func check(_ store: StoreConfiguration, copies: Int64, at path: String) throws {
        guard store.location.hasPrefix("/") else { return }
        let size = size(of: store.location)
        let folder = (path as NSString).deletingLastPathComponent
        guard size > 0, let attributes = try? FileManager.default.attributesOfFileSystem(forPath: folder),
            let free = (attributes[.systemFreeSize] as? NSNumber)?.int64Value
        else { return }
        guard free < size * copies else { return }
        throw StoreError(
            .full,
            "The store \(store.location) has \(size) bytes, and its migration needs up to \(size * copies) more on the disk of \(folder), which has \(free) left. Free space "
                + "and try again; the store is unchanged.", location: store.location)
    }

    private static func size(of path: String) -> Int64 {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return 0 }
        let files =
            isFolder.boolValue
            ? (try? FileManager.default.subpathsOfDirectory(atPath: path))?.map { "\(path)/\($0)" } ?? [] : [path, path + "-wal"]
        return files.reduce(0) { total, file in
            // Counts allocated blocks because the file of a memory map may be sparse.
            var found = stat()
            return stat(file, &found) == 0 ? total + Int64(found.st_blocks) * 512 : total
        }
    }
}
