import Foundation
import GRDB
import PeerKit

let columns = "id, name, email, age, score, isActive, createdAt, notes, departmentID"

/// The interface of both kinds of records.
protocol PersonRecord: FetchableRecord, PersistableRecord, PersonFields, Sendable {
    init(_ p: RawPerson)
    var age: Int { get set }
    var score: Double { get set }
    var notes: String { get set }
}

/// P4's record: written by hand, decoded by position.
struct HandPerson: PersonRecord {
    static let databaseTableName = "person"
    var id: Int64
    var name: String
    var email: String
    var age: Int
    var score: Double
    var isActive: Bool
    var createdAt: Date
    var notes: String
    var departmentID: Int64

    init(_ p: RawPerson) {
        id = p.id
        name = p.name
        email = p.email
        age = p.age
        score = p.score
        isActive = p.isActive
        createdAt = p.createdAt
        notes = p.notes
        departmentID = p.departmentID
    }

    init(row: Row) {
        id = row[0]
        name = row[1]
        email = row[2]
        age = row[3]
        score = row[4]
        isActive = row[5]
        createdAt = Date(timeIntervalSinceReferenceDate: row[6])
        notes = row[7]
        departmentID = row[8]
    }

    func encode(to container: inout PersistenceContainer) {
        container["id"] = id
        container["name"] = name
        container["email"] = email
        container["age"] = age
        container["score"] = score
        container["isActive"] = isActive
        container["createdAt"] = createdAt.timeIntervalSinceReferenceDate
        container["notes"] = notes
        container["departmentID"] = departmentID
    }

    var arguments: StatementArguments {
        [id, name, email, age, score, isActive, createdAt.timeIntervalSinceReferenceDate, notes, departmentID]
    }
}

/// P4b's record: Codable. Dates as numbers, so that the file is the same as P1's.
struct CodablePerson: PersonRecord, Codable {
    static let databaseTableName = "person"
    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy { .timeIntervalSinceReferenceDate }
    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy { .timeIntervalSinceReferenceDate }
    var id: Int64
    var name: String
    var email: String
    var age: Int
    var score: Double
    var isActive: Bool
    var createdAt: Date
    var notes: String
    var departmentID: Int64

    init(_ p: RawPerson) {
        id = p.id
        name = p.name
        email = p.email
        age = p.age
        score = p.score
        isActive = p.isActive
        createdAt = p.createdAt
        notes = p.notes
        departmentID = p.departmentID
    }
}

struct Department: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "department"
    static var people: HasManyAssociation<Department, CodablePerson> {
        hasMany(CodablePerson.self, using: ForeignKey(["departmentID"]))
    }
    var id: Int64
    var name: String
}

@inline(__always)
func sum<P: PersonFields>(_ a: [P]) -> UInt64 {
    var q: UInt64 = 0
    for p in a { q &+= quickHash(p) }
    return q
}
