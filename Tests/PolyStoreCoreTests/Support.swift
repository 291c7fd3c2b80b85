import Foundation
import PolyStoreBackend
import PolyStoreCore
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStoreMemory
import PolyStoreSQLite
import TestModels
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

/// A temporary folder that is removed when the test ends.
final class Folder: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "polystore-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    /// A folder at a path, which need not exist.
    init(path: String) { self.path = path }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// Records logged messages. A test that expects silence checks `lines`.
final class RecordingLogger: StoreLogger, @unchecked Sendable {  // `lines` is accessed under the lock only
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

/// A stack with one store. Fails the test on any unexpected warning or error in the log.
final class Company {
    let folder: Folder
    let stack: DataStack
    let logger = RecordingLogger()
    private let expectsSilence: Bool

    init(_ backend: Backend, expectsSilence: Bool = true) throws {
        folder = try Folder()
        self.expectsSilence = expectsSilence
        stack = try DataStack(companySchema, logger: logger)
        // Independent of the speed of the machine.
        stack.snapshotWarningAge = .seconds(100_000)
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

    /// Creates six people aged 0, 10, … 50: p0 to p2 in the department Research (budget 100), p3 in Sales (50), the others in none. p1 and p2 are friends, and
    /// p2 and p3.
    /// - Parameter adjust: Adds the data of a test.
    static func staffed(_ backend: Backend, _ adjust: @Sendable @escaping ([Person]) -> Void) throws -> Company {
        let company = try Company(backend)
        try company.people(6)
        try company.stack.performAndWait { transaction throws in
            let people = try transaction.fetchAll(From<Person>().orderBy(.ascending(\.age)))
            let (research, sales) = (try transaction.create(Into<Department>()), try transaction.create(Into<Department>()))
            (research.title, research.budget) = ("Research", 100)
            (sales.title, sales.budget) = ("Sales", 50)
            for person in people[0...2] { person.department = research }
            people[3].department = sales
            people[1].friends = [people[2]]
            people[2].friends = [people[1], people[3]]
            adjust(people)
        }
        return company
    }
}

extension Transaction {
    /// Creates a person with a number as email and age.
    func createPerson(_ number: Int) throws -> Person {
        let person = try create(Into<Person>())
        person.email = "n\(number)"
        person.age = number
        return person
    }
}

/// Expects a `StoreError` with a code, and returns it.
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
