import BrowserData
import Foundation
import PolyStore
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStorePostgreSQL
import PolyStoreSQLite
import Testing

/// An engine whose stores the browser shows.
enum Engine: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case sqlite, lmdb, leveldb, postgresql

    var testDescription: String { rawValue }
    /// Those on which a test can run; without a server of PostgreSQL the others.
    static let available = PostgreSQL.url == nil ? [.sqlite, .lmdb, .leveldb] : allCases
    static let all = StoreEngines([.sqlite, .lmdb, .levelDB, .postgreSQL])

    /// Creates a store with classes, and opens it as the browser does.
    func open(
        _ schema: Schema, in folder: TemporaryFolder, forWriting isWritable: Bool = false, _ fill: (DataStack) throws -> Void
    ) throws -> BrowserStore {
        let name = "store"
        let url =
            self == .postgresql
            ? "\(PostgreSQL.url ?? "")?schema=b\(folder.number)_\(name)" : "\(rawValue):\(folder.path)/\(name).\(rawValue)"
        let stack = try DataStack(schema, logger: SilentLogger())
        try stack.addStore(url: url, engines: Self.all)
        try fill(stack)
        try stack.closeAndWait()
        return try BrowserStore(opening: Self.all.configuration(url), name: name, forWriting: isWritable, logger: SilentLogger())
    }
}

/// A server of PostgreSQL, which ends with this process.
enum PostgreSQL {
    /// The URL of the database; nil if no server can be started.
    static let url: String? = start()

    private static let folder: URL = {
        #if os(macOS)
            for bundle in Bundle.allBundles where bundle.bundlePath.hasSuffix(".xctest") {
                return bundle.bundleURL.deletingLastPathComponent()
            }
        #endif
        return URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
    }()

    private static func start() -> String? {
        let (process, input, output) = (Process(), Pipe(), Pipe())
        process.executableURL = folder.appendingPathComponent("postgresql-server")
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
        path = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path + "/browser-\(number)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
