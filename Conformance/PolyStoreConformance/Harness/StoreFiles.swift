#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The files of a store at one moment: everything below a folder.
struct StoreFiles {
    struct Item {
        /// The bytes of a file; `nil` for a folder.
        var contents: [UInt8]?
        var mode: Int
    }

    /// The items, by the path below the folder.
    var items: [String: Item] = [:]

    init(reading folder: String) throws {
        let manager = FileManager.default
        for name in try manager.subpathsOfDirectory(atPath: folder) {
            let path = folder + "/" + name
            let attributes = try manager.attributesOfItem(atPath: path)
            let type = attributes[.type] as? FileAttributeType
            // Sockets and other special files hold no data.
            guard type == .typeRegular || type == .typeDirectory else { continue }
            let mode = attributes[.posixPermissions] as? Int ?? 0
            items[name] = Item(
                contents: type == .typeDirectory ? nil : [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))), mode: mode)
        }
    }

    /// Replaces everything below a folder.
    func write(to folder: String) throws {
        let manager = FileManager.default
        for name in (try? manager.contentsOfDirectory(atPath: folder)) ?? [] { try manager.removeItem(atPath: folder + "/" + name) }
        for (name, item) in items.sorted(by: { $0.key < $1.key }) {
            let path = folder + "/" + name
            if let contents = item.contents {
                try Data(contents).write(to: URL(fileURLWithPath: path))
            } else {
                try manager.createDirectory(atPath: path, withIntermediateDirectories: true)
            }
            try manager.setAttributes([.posixPermissions: item.mode], ofItemAtPath: path)
        }
    }

    /// The non-empty files, ordered by name.
    var filled: [(name: String, contents: [UInt8])] {
        items.compactMap { name, item in item.contents.flatMap { $0.isEmpty ? nil : (name, $0) } }.sorted { $0.0 < $1.0 }
    }

    /// Returns every position at which the bytes occur.
    func locations(of bytes: [UInt8]) -> [(name: String, offset: Int)] {
        filled.flatMap { name, contents in
            contents.withUnsafeBytes { contents in
                var found: [(String, Int)] = []
                var offset = 0
                while offset + bytes.count <= contents.count {
                    if contents[offset] == bytes[0], contents[offset...].starts(with: bytes) {
                        found.append((name, offset))
                        offset += bytes.count
                    } else {
                        offset += 1
                    }
                }
                return found
            }
        }
    }
}
