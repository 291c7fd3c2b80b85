import Foundation
import PolyStoreBackend
import PolyStoreCore
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStoreMemory
import PolyStoreSQLite
import Testing

/// The backends that every test of the object layer runs on.
enum Backend: String, CaseIterable, CustomTestStringConvertible {
    case memory, sqlite, lmdb, levelDB

    var testDescription: String { rawValue }

    func store(in folder: Folder, _ name: String = "test") -> StoreConfiguration {
        switch self {
        case .memory: .inMemory()
        case .sqlite: .sqlite(file: folder.path + "/\(name).sqlite")
        case .lmdb: .lmdb(file: folder.path + "/\(name).lmdb")
        case .levelDB: .levelDB(directory: folder.path + "/\(name).leveldb")
        }
    }
}

/// A folder that goes when the test ends.
final class Folder: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "polystore-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// Keeps what is logged; a test that expects silence checks `lines`.
final class RecordingLogger: StoreLogger, @unchecked Sendable {  // `lines` is only touched under the lock
    private let lock = NSLock()
    private var kept: [String] = []

    func isEnabled(_ level: LogLevel) -> Bool { level >= .warning }
    func log(_ level: LogLevel, _ message: String, file: StaticString, line: UInt, function: StaticString) {
        guard isEnabled(level) else { return }
        lock.withLock { kept.append("\(level): \(message)") }
    }
    var lines: [String] { lock.withLock { kept } }
}

let companySchema = Schema("Company 1", Person.self, Department.self, Project.self)

/// A stack with one store; fails the test on any unexpected warning or error that is logged.
final class Company {
    let folder: Folder
    let stack: DataStack
    let logger = RecordingLogger()
    private let expectsSilence: Bool

    init(_ backend: Backend, expectsSilence: Bool = true) throws {
        folder = try Folder()
        self.expectsSilence = expectsSilence
        stack = try DataStack(companySchema, logger: logger)
        try stack.addStore(backend.store(in: folder))
    }

    deinit { if expectsSilence, !logger.lines.isEmpty { Issue.record("unexpected log: \(logger.lines)") } }

    /// Creates people p0, p1, … with ages 0, 10, 20, …
    @discardableResult
    func people(_ count: Int) throws -> [ObjectID<Person>] {
        try stack.performAndWait { transaction throws in
            try (0..<count).map { number in
                let person = try transaction.create(Into<Person>())
                person.email = "p\(number)@example.com"
                person.age = number * 10
                return person.objectID
            }
        }
    }
}

/// Expects a `StoreError` of a code and gives it back.
@discardableResult
func expectError<T>(
    _ code: StoreError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> T
) -> StoreError? {
    do {
        _ = try body()
        Issue.record("expected \(code), but nothing was thrown", sourceLocation: sourceLocation)
    } catch let error as StoreError {
        #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
        return error
    } catch {
        Issue.record("expected \(code), got \(error)", sourceLocation: sourceLocation)
    }
    return nil
}
