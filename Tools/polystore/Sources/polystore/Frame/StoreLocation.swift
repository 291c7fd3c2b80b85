import Foundation
import PolyStoreCore

import struct PolyStoreBackend.StoreConfiguration
import struct PolyStoreBackend.StoreEngines
import struct PolyStoreBackend.StoreError
import struct PolyStoreBackend.StoreURL

/// A store as the user names it: a URL, or a path whose engine is found from the file.
struct StoreLocation: Sendable {
    /// The URL, and the name for messages, which contains no password.
    let url: String
    let name: String
    let configuration: StoreConfiguration

    /// Finds a store that exists.
    /// - Throws: `usage` for an invalid URL, `cannotOpen` for a path at which there is no store.
    init(existing text: String) throws {
        try self.init(text, engineOf: Self.engine(ofExisting:))
    }

    /// Finds the place of a store that a command creates. A path needs an extension that names the engine.
    init(new text: String) throws {
        try self.init(text) { path in
            if FileManager.default.fileExists(atPath: path) { return try Self.engine(ofExisting: path) }
            guard let engine = Self.engine(ofExtension: path) else {
                throw ToolError(
                    .usage, "The engine of \"\(path)\" is not known from its name: write sqlite:\(path), lmdb:\(path) or leveldb:\(path).")
            }
            return engine
        }
    }

    private init(_ text: String, engineOf: (String) throws -> String) throws {
        url = try Self.isURL(text) ? text.replacing(/^postgres:/, with: "postgresql:") : "\(engineOf(text)):\(Self.escaped(text))"
        do {
            configuration = try StoreEngines.registered.configuration(url)
        } catch let error as StoreError where error.code == .unsupported {
            let engine = url.prefix { $0 != ":" }
            let hint =
                engine == "memory"
                ? "a store in memory ends with its program" : "the engines are \(StoreEngines.registered.names.joined(separator: ", "))"
            throw ToolError(
                .usage,
                "\"\(engine)\" is not an engine that the tool can open: \(hint). Write sqlite:PATH, lmdb:PATH, leveldb:PATH, postgresql://HOST/DATABASE, or a path."
            )
        }
        name = Self.isURL(text) ? (try? StoreURL(url).description) ?? configuration.url : text
    }

    /// Returns whether a text begins with the name of an engine rather than being a path.
    private static func isURL(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":"), colon != text.startIndex else { return false }
        let scheme = text[..<colon]
        guard scheme.utf8.allSatisfy({ $0 >= 0x61 && $0 <= 0x7a || $0 >= 0x30 && $0 <= 0x39 || $0 == 0x2d }) else { return false }
        return StoreEngines.registered.names.contains(String(scheme)) || !FileManager.default.fileExists(atPath: text)
    }

    private static func escaped(_ path: String) -> String {
        let slashes = path.prefix { $0 == "/" }
        let path = slashes.count > 1 ? "/" + path.dropFirst(slashes.count) : path
        return path.replacingOccurrences(of: "%", with: "%25").replacingOccurrences(of: "?", with: "%3F")
    }

    // MARK: Engines

    private static func engine(ofExisting path: String) throws -> String {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw ToolError(.cannotOpen, "There is no store at \"\(path)\": no such file or folder.")
        }
        if isFolder.boolValue {
            if FileManager.default.fileExists(atPath: path + "/CURRENT") { return "leveldb" }
            throw ToolError(.cannotOpen, "The folder \"\(path)\" is not a store of LevelDB, the only engine whose stores are folders.")
        }
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw ToolError(.cannotOpen, "\"\(path)\" cannot be read: \(String(cString: strerror(errno))).")
        }
        defer { try? file.close() }
        let head = (try? file.read(upToCount: 32)) ?? Data()
        if head.starts(with: Data("SQLite format 3\0".utf8)) { return "sqlite" }
        // The magic number of LMDB follows the header of the first page.
        if head.count >= 20, Array(head[16..<20]) == [0xde, 0xc0, 0xef, 0xbe] { return "lmdb" }
        throw ToolError(.cannotOpen, "\"\(path)\" is not a store of SQLite, LMDB or LevelDB.")
    }

    private static func engine(ofExtension path: String) -> String? {
        switch (path as NSString).pathExtension.lowercased() {
        case "sqlite", "sqlite3", "db", "sqlitedb": "sqlite"
        case "lmdb", "mdb": "lmdb"
        case "leveldb", "ldb": "leveldb"
        default: nil
        }
    }
}
