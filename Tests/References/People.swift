import Foundation
import PolyStore
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStoreMemory
import PolyStoreSQLite

/// The entity of the references' samples, with what all of them ask about.
@Model(entity: "MyPersonEntity")
final class MyPerson {
    var name: String = ""
    var surname: String = ""
    var age: Int = 0
    var gender: String = ""
    var rating: Double = 0
    var location: String?
    @Relationship(inverse: "friends") var friends: Set<MyPerson>
}

enum Backend: String, CaseIterable {
    case memory, sqlite, lmdb, levelDB

    func store(in folder: String) -> StoreConfiguration {
        switch self {
        case .memory: .inMemory()
        case .sqlite: .sqlite(file: folder + "/people.sqlite")
        case .lmdb: .lmdb(file: folder + "/people.lmdb")
        case .levelDB: .levelDB(directory: folder + "/people.leveldb")
        }
    }
}

/// A stack with the people of the samples: John Smith (30), Jane Doe (22), and some that the samples leave out.
final class People {
    let stack: DataStack
    private let folder: String

    init(_ backend: Backend) throws {
        folder = NSTemporaryDirectory() + "polystore-references-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        stack = try DataStack(Schema("References", MyPerson.self))
        try stack.addStore(backend.store(in: folder))
        try stack.performAndWait { transaction throws in
            let rows: [(String, String, Int, String, Double, String?)] = [
                ("John Smith", "Smith", 30, "M", 4.5, "Taipei"), ("Jane Doe", "Doe", 22, "F", 4.5, "Taipei"),
                ("Monk", "Adrian", 42, "M", 3, "Taipei"), ("Monk", "Theo", 17, "M", 2, "Kyoto"), ("Warrior", "Zed", 35, "M", 5, "Taipei"),
                ("Warrior", "Ada", 16, "F", 1, nil),
            ]
            var people: [MyPerson] = []
            for (name, surname, age, gender, rating, location) in rows {
                let person = try transaction.create(Into<MyPerson>())
                (person.name, person.surname, person.age) = (name, surname, age)
                (person.gender, person.rating, person.location) = (gender, rating, location)
                people.append(person)
            }
            people[0].friends = [people[1], people[2]]
            people[1].friends = [people[0], people[3], people[4]]
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }
}
