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
    /// - Throws: `usage` for an invalid URL, `cannotOpen` for a path without a store.
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
        let isURL = Self.isURL(text)
        url = try isURL ? Self.withEngine(text) : "\(engineOf(text)):\(Self.escaped(text))"
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
        name = isURL ? (try? StoreURL(url).description) ?? configuration.url : text
    }

    /// Returns a URL with the name of its engine in small letters.
    private static func withEngine(_ text: String) -> String {
        let engine = text.prefix { $0 != ":" }
        return (engine.lowercased() == "postgres" ? "postgresql" : engine.lowercased()) + text.dropFirst(engine.count)
    }

    /// Returns whether a text begins with the name of an engine rather than being a path.
    private static func isURL(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":"), colon != text.startIndex else { return false }
        let scheme = text[..<colon].lowercased()
        guard scheme.utf8.allSatisfy({ $0 >= 0x61 && $0 <= 0x7a || $0 >= 0x30 && $0 <= 0x39 || $0 == 0x2d }) else { return false }
        return StoreEngines.registered.names.contains(scheme) || !FileManager.default.fileExists(atPath: text)
    }

    private static func escaped(_ path: String) -> String {
        let slashes = path.prefix { $0 == "/" }
        let path = slashes.count > 1 ? "/" + path.dropFirst(slashes.count) : path
        return path.replacingOccurrences(of: "%", with: "%25").replacingOccurrences(of: "?", with: "%3F")
    }

    // MARK: Files

    /// The endings of the names of files beside a store that belong to it.
    private static let suffixes = ["", "-wal", "-shm", "-journal", "-lock", "-old-lock", "-migration"]

    /// Returns whether a path is that of the store, or of a file that belongs to it, also by another name.
    func contains(_ path: String) -> Bool {
        guard configuration.engine != "postgresql" else { return false }
        let own = Self.resolved(configuration.location)
        let other = Self.resolved(path)
        if Self.suffixes.contains(where: { own + $0 == other }) || other.hasPrefix(own + "/") { return true }
        var (file, found) = (stat(), stat())
        guard stat(path, &file) == 0 else { return false }
        return Self.suffixes.contains { stat(own + $0, &found) == 0 && found.st_dev == file.st_dev && found.st_ino == file.st_ino }
    }

    /// Returns a path without symbolic links, also of a file that does not exist.
    private static func resolved(_ path: String) -> String {
        let url = URL(fileURLWithPath: path)
        let folder = realpath(url.deletingLastPathComponent().path, nil)
        defer { free(folder) }
        if let whole = realpath(path, nil) {
            defer { free(whole) }
            return String(cString: whole)
        }
        return folder.map { String(cString: $0) + "/" + url.lastPathComponent } ?? url.path
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
