import Foundation
import PolyStore
import TestSupport
import Testing

@Model
final class MyPersonWithID {
    @Attribute(.unique) var personID: Int
    var name: String?
    var age: Int?
    var inserts: Int = 0
}

/// An entity without a unique id: every source creates an object.
@Model
final class MyNote {
    var name: String = ""
    var age: Int = 0
}

enum ImportErrors: Error { case invalidName }

/// A name that the tests skip, as `shouldInsertFromImportSource` does in the reference's documentation.
private let skipped = "skip"

extension MyNote: ImportableObject {
    typealias ImportSource = [String: JSONValue]

    static func shouldInsert(from source: ImportSource, in transaction: Transaction) throws -> Bool { source["name"]?.string != skipped }

    func didInsert(from source: ImportSource, in transaction: Transaction) throws {
        guard let name = source["name"]?.string else { throw ImportErrors.invalidName }
        self.name = name
        age = source["age"]?.int ?? 0
    }
}

extension MyPersonWithID: ImportableUniqueObject {
    static var uniqueIDKeyPath: WritableKeyPath<MyPersonWithID, Int> { \.personID }

    static func uniqueID(from source: [String: JSONValue], in transaction: Transaction) throws -> Int? { source["id"]?.int }

    static func shouldUpdate(from source: [String: JSONValue], in transaction: Transaction) throws -> Bool {
        source["name"]?.string != skipped
    }

    func didInsert(from source: [String: JSONValue], in transaction: Transaction) throws {
        inserts += 1
        try update(from: source, in: transaction)
    }

    func update(from source: [String: JSONValue], in transaction: Transaction) throws {
        name = try source.optional("name")
        age = try source.optional("age")
    }
}

/// CoreStore, "Importing data".
@Suite
struct CoreStoreImportTests {
    private func stack(_ backend: Backend, _ folder: Folder) throws -> DataStack {
        let stack = try DataStack(Schema("Import references", MyPersonWithID.self, MyNote.self))
        try stack.addStore(backend.store(in: folder))
        return stack
    }

    @Test(arguments: Backend.forObjectLayer)
    func importObject(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try stack(backend, folder)
        let json: [String: JSONValue] = ["name": "John", "age": 30]
        _ = try stack.beginSynchronous { transaction throws in
            _ = try transaction.importObject(Into<MyNote>(), from: json)
            try transaction.commit()
        }
        #expect(try stack.readAndWait { try $0.fetchAll(From<MyNote>()).map { "\($0.name) \($0.age)" } } == ["John 30"])
    }

    @Test(arguments: Backend.forObjectLayer)
    func importObjectsSkipsAndAbandons(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try stack(backend, folder)
        let jsonArray: [[String: JSONValue]] = [["name": "a"], ["name": "skip"], ["name": "b", "age": 2]]
        _ = try stack.beginSynchronous { transaction throws in
            _ = try transaction.importObjects(Into<MyNote>(), from: jsonArray)
            try transaction.commit()
        }
        // A transaction whose import throws is not committed.
        _ = try stack.beginSynchronous { transaction throws in
            do {
                _ = try transaction.importObjects(Into<MyNote>(), from: jsonArray + [["age": 4]])
            } catch { return }
            try transaction.commit()
        }
        #expect(try stack.readAndWait { try $0.fetchAll(From<MyNote>()).map { "\($0.name) \($0.age)" } } == ["a 0", "b 2"])
    }

    @Test(arguments: Backend.forObjectLayer)
    func importUniqueObjects(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try stack(backend, folder)
        func people() throws -> [String] {
            try stack.readAndWait { context throws in
                try context.fetchAll(From<MyPersonWithID>().orderBy(.ascending(\.personID))).map {
                    "\($0.personID) \($0.name ?? "-") \($0.age ?? 0) \($0.inserts)"
                }
            }
        }
        let json: [String: JSONValue] = ["id": 1, "name": "John", "age": 30]
        try stack.performAndWait { transaction throws in _ = try transaction.importUniqueObject(Into<MyPersonWithID>(), from: json) }
        let jsonArray: [[String: JSONValue]] = [
            ["id": 2, "name": "Jane"], ["id": 1, "name": "John Smith", "age": 31], ["name": "nobody"], ["id": 3, "name": "first"],
            ["id": 3, "age": 5],
        ]
        try stack.performAndWait { transaction throws in
            let imported = try transaction.importUniqueObjects(Into<MyPersonWithID>(), from: jsonArray)
            #expect(imported.map(\.personID) == [2, 1, 3])
        }
        #expect(try people() == ["1 John Smith 31 1", "2 Jane 0 1", "3 - 5 1"])
        try stack.performAndWait { transaction throws in
            let imported = try transaction.importUniqueObjects(
                Into<MyPersonWithID>(), from: [["id": 1, "name": "skip"], ["id": 4, "name": "new"]],
                preProcess: { sources in sources.filter { $0.key != 4 || $0.value["name"] == "new" } })
            #expect(imported.map(\.personID) == [4])
        }
        #expect(try people().count == 4)
    }
}
