import CSQLite
import Foundation
import PolyStoreBackend
import PolyStoreCore
import PolyStoreSQLite
import TestModels
import TestSupport
import Testing

/// External failures: each is an error that names the file, row or setting, and the store works afterwards.
@Suite struct BadInputTests {
    private func run(_ sql: String, _ path: String) throws {
        var handle: OpaquePointer?
        defer { sqlite3_close(handle) }
        try #require(sqlite3_open(path, &handle) == SQLITE_OK)
        try #require(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK, "\(sql)")
    }

    @Test func aForeignFileIsUnchanged() throws {
        let folder = try Folder()
        let path = folder.path + "/letter.txt"
        let letter = Data(
            "This file is not a database, but it is as long as one. \(String(repeating: "x", count: 5000))"
                .utf8)
        try letter.write(to: URL(fileURLWithPath: path))
        let error = expectError(.notAStore) { try DataStack(companySchema).addStore(.sqlite(file: path)) }
        #expect(error.map { "\($0)".contains("letter.txt") } == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == letter)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["letter.txt"])
    }

    @Test func databasesOfOtherProgramsAreUnchanged() throws {
        let folder = try Folder()
        let path = folder.path + "/other.sqlite"
        try run("CREATE TABLE notes(text); INSERT INTO notes VALUES('keep me')", path)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        expectError(.notAStore) { try DataStack(companySchema).addStore(.sqlite(file: path)) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test func aFolderThatCannotBeWrittenIsNamed() throws {
        let folder = try Folder()
        // A file in place of the folder: not even root can create a store there.
        try Data().write(to: URL(fileURLWithPath: folder.path + "/file"))
        let path = folder.path + "/file/store.sqlite"
        let stack = try DataStack(companySchema)
        let error = expectError(.io) { try stack.addStore(.sqlite(file: path)) }
        #expect(error.map { "\($0)".contains("/file") } == true)
        #expect(stack.stores.isEmpty)
        // The same stack accepts another path.
        try stack.addStore(.sqlite(file: folder.path + "/store.sqlite"))
        try stack.performAndWait { try $0.create(Into<Person>()).email = "x" }
    }

    @Test func aFolderInThePlaceOfTheFileIsRefused() throws {
        let folder = try Folder()
        expectError(.notAStore) { try DataStack(companySchema).addStore(.sqlite(file: folder.path)) }
    }

    @Test func textWhereANumberBelongsFailsOnlyReadsOfTheField() throws {
        let folder = try Folder()
        let path = folder.path + "/store.sqlite"
        let ids: [ObjectID<Person>]
        do {
            let stack = try DataStack(companySchema)
            try stack.addStore(.sqlite(file: path))
            ids = try stack.performAndWait { transaction in
                try (0..<3).map { number in
                    let person = try transaction.create(Into<Person>())
                    person.email = "p\(number)"
                    person.age = number
                    return person.objectID
                }
            }
        }
        try run("UPDATE Person SET age = 'forty' WHERE objectID = \(ids[1].rowID)", path)
        let logger = RecordingLogger()
        let stack = try DataStack(companySchema, logger: logger)
        try stack.addStore(.sqlite(file: path))
        let error = expectError(.corrupt) { try stack.readAndWait { _ = try $0.fetchAll(From<Person>()) } }
        #expect(error?.entity == "Person")
        #expect(error?.attribute == "age")
        #expect(error?.rowID == ids[1].rowID)
        expectError(.corrupt) { try stack.readAndWait { _ = try $0.fetchExisting(ids[1].in(stack)) } }
        // The other objects remain readable and writable.
        #expect(try stack.readAndWait { try $0.fetchAll(From<Person>(), Where(\.email != "p1")).map(\.age) } == [0, 2])
        try stack.performAndWait { try $0.edit(ids[2].in(stack)).age = 5 }
        #expect(try stack.readAndWait { try $0.fetchAll(From<Person>(), Where(\.age == 5)).map(\.email) } == ["p2"])
        // A repaired row is readable and writable again.
        try run("UPDATE Person SET age = 40 WHERE objectID = \(ids[1].rowID)", path)
        #expect(try stack.readAndWait { try $0.fetchAll(From<Person>()).map(\.age) } == [0, 40, 5])
    }

    @Test func nullWhereAValueBelongsIsNamed() throws {
        let folder = try Folder()
        let path = folder.path + "/store.sqlite"
        let stack = try DataStack(companySchema)
        try stack.addStore(.sqlite(file: path))
        try stack.performAndWait { try $0.create(Into<Person>()).email = "x" }
        try run("UPDATE Person SET age = NULL", path)
        let error = expectError(.corrupt) { try stack.readAndWait { _ = try $0.fetchAll(From<Person>()) } }
        #expect(error?.attribute == "age")
    }

    @Test func aReferenceToADeletedObjectIsAnEmptyFault() throws {
        let folder = try Folder()
        let path = folder.path + "/store.sqlite"
        let logger = RecordingLogger()
        let stack = try DataStack(companySchema, logger: logger)
        try stack.addStore(.sqlite(file: path))
        try stack.performAndWait { transaction in
            let person = try transaction.create(Into<Person>())
            person.email = "x"
            person.department = try transaction.create(Into<Department>())
        }
        try run("DELETE FROM Dept", path)
        try stack.readAndWait { context throws in
            let department = try #require(try context.fetchOne(From<Person>())?.department)
            #expect(department.title == "")
            #expect(department.isDeleted)
        }
        #expect(logger.lines.contains { $0.contains("Dept 1") })
    }
}

extension ObjectID {
    /// Returns the id of the same object in another stack over the same store.
    func `in`(_ stack: DataStack) throws -> ObjectID { try #require(stack.objectID(uri, for: T.self)) }
}
