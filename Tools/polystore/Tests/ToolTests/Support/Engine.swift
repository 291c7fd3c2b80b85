import Foundation
import PolyStore
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStorePostgreSQL
import PolyStoreSQLite
import Testing

/// An engine whose stores the tool opens.
enum Engine: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case sqlite, lmdb, leveldb, postgresql

    var testDescription: String { rawValue }
    /// The engines whose stores are files.
    static let files: [Engine] = [.sqlite, .lmdb, .leveldb]
    /// Those on which a test can run; without a server of PostgreSQL the others.
    static let available = PostgreSQL.url == nil ? files : allCases

    /// Returns the URL of a store of the engine in a folder.
    func url(_ folder: TemporaryFolder, _ name: String = "library") -> String {
        guard self == .postgresql else { return "\(rawValue):\(folder.path)/\(name).\(rawValue)" }
        return PostgreSQL.url.map { "\($0)?schema=s\(folder.number)_\(name)" } ?? ""
    }

    /// Creates a store of the library.
    @discardableResult
    func makeLibrary(in folder: TemporaryFolder, _ name: String = "library") throws -> String {
        let url = url(folder, name)
        let stack = try DataStack(Library.schema, logger: SilentLogger())
        try stack.addStore(url: url, engines: StoreEngines([.sqlite, .lmdb, .levelDB, .postgreSQL]))
        try Library.fill(stack)
        try stack.closeAndWait()
        return url
    }
}

/// A server of PostgreSQL, which ends with this process.
enum PostgreSQL {
    /// The URL of the database; nil if no server can be started.
    static let url: String? = start()

    private static func start() -> String? {
        let (process, input, output) = (Process(), Pipe(), Pipe())
        process.executableURL = Tool.folder.appendingPathComponent("postgresql-server")
        (process.standardInput, process.standardOutput) = (input, output)
        // Another process that inherited the input would keep the server.
        _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        guard (try? process.run()) != nil else { return nil }
        var line = Data()
        while !line.contains(UInt8(ascii: "\n")) {
            let bytes = output.fileHandleForReading.availableData
            if bytes.isEmpty { return nil }
            line += bytes
        }
        _ = Unmanaged.passRetained(input)
        return String(decoding: line, as: UTF8.self).trimmingCharacters(in: .newlines)
    }
}

/// A folder that is removed when it is released.
final class TemporaryFolder: Sendable {
    let path: String
    /// A number that no other folder of a run has.
    let number: String

    init() throws {
        number = UUID().uuidString.prefix(8).lowercased()
        path = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path + "/tool-\(number)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
