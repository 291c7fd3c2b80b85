import Foundation
import StoreTesting
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
