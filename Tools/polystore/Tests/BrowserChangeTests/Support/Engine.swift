import Foundation
import Testing

/// An engine whose stores the browser opens.
enum Engine: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case sqlite, lmdb, leveldb, postgresql

    var testDescription: String { rawValue }
    /// Those on which a test can run; without a server of PostgreSQL the others.
    static let available = PostgreSQL.url == nil ? allCases.filter { $0 != .postgresql } : allCases
    /// Those of them whose stores several connections open.
    static let shared = available.filter { $0 != .leveldb }

    /// Returns the URL of a store of the engine in a folder.
    func url(_ folder: TemporaryFolder, _ name: String) -> String {
        guard self == .postgresql else { return "\(rawValue):\(folder.path)/\(name).\(rawValue)" }
        return PostgreSQL.url.map { "\($0)?schema=s\(folder.number)_\(name)" } ?? ""
    }
}

/// A server of PostgreSQL, which ends with this process.
enum PostgreSQL {
    /// The URL of the database; nil if no server can be started.
    static let url: String? = start()

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

    /// The folder of the built programs.
    private static var folder: URL {
        #if os(macOS)
            for bundle in Bundle.allBundles where bundle.bundlePath.hasSuffix(".xctest") {
                return bundle.bundleURL.deletingLastPathComponent()
            }
        #endif
        return URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
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
