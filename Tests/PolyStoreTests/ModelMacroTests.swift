import Foundation
import PolyStore
import PolyStoreMemory
import PolyStoreSQLite
import TestSupport
import Testing

enum Rank: String, Sendable, CaseIterable { case junior, senior, chief }
enum Level: Int, Codable, Sendable {
    case low = 1
    case high = 9
}
struct Address: Codable, Sendable, Hashable { var street: String, city: String }

@Model
final class Employee {
    @Attribute(.unique) var email: String
    @Attribute(.indexed) var age: Int = 0
    @Attribute(name: "full_name", originalName: "title") var name: String = ""
    var nickname: String?
    var born: Date?
    var tags: [String] = []
    var address: Address?
    var rank: Rank = .junior
    var level: Level?
    var score: Double = 1.5
    var weight: Float = 0
    var salary: Decimal = 0
    var token: UUID?
    var home: URL?
    var photo: Data = Data()
    var flags: UInt64 = 0
    var small: Int8 = -1
    var isActive: Bool = true
    @Relationship(inverse: "staff") var office: Office?
    @Relationship(inverse: "friends") var friends: Set<Employee>
    @Relationship var mentor: Employee?
    @Transient var isSelected = false
    var display: String { "\(name) (\(age))" }
    #Index<Employee>(\.age, \.name)
    #Unique<Employee>(\.name, \.born)
}

@Model(entity: "Bureau")
final class Office {
    var title: String = ""
    @Relationship(deleteRule: .deny, name: "people") var staff: Set<Employee>
}

/// Properties with the names of members that the framework declares.
@Model
final class Job {
    var state: String = "new"
    var load: Int = 1
    var entity: String?
    @Relationship(inverse: "members") var hierarchy: Job?
    @Relationship var members: Set<Job>
}

/// A relationship within one class whose two ends have other names in the store.
@Model
final class Region {
    var title: String = ""
    @Relationship(inverse: "parts", name: "parent") var whole: Region?
    @Relationship(name: "children") var parts: Set<Region>
}

/// Properties whose types are inferred from their defaults.
@Model
final class Ticket {
    var number = 7
    var price = 1.5
    var shift = -3
    var isOpen = true
    var title = "new"
    var made = Date(timeIntervalSinceReferenceDate: 5)
    var marks = [String]()
    var seats = Set<Int>()
    @Attribute(.indexed, .length(1...9)) var code = "A1"
}

@Model
final class Stamp {
    var made: Date = Date()
    var token: UUID = UUID()
}

extension EntityDescription {
    /// Returns the schema as another process would create it.
    fileprivate func withToken(_ token: UUID) -> SchemaDescription {
        var copy = self
        copy.properties = properties.map { property in
            guard case .attribute(var attribute) = property, attribute.type == .uuid else { return property }
            attribute.defaultValue = token.attributeValue
            return .attribute(attribute)
        }
        return SchemaDescription(name: "Stamps", entities: [copy])
    }
}

let officeSchema = Schema("Office 1", Employee.self, Office.self)

@Model
private final class CarModel {
    var name: String = ""
}

@Suite struct ModelMacroTests {
    @Test func aPrivateClassKeepsItsValues() throws {
        let stack = try DataStack(CarModel.self)
        try stack.addStore(.inMemory())
        try stack.performAndWait { transaction in
            let car = try transaction.create(CarModel.self)
            car.name = "a"
        }
        #expect(try stack.readAndWait { try $0.fetchAll(CarModel.self).map(\.name) } == ["a"])
    }

    @Test func typesOfDefaultsNeedNotBeWritten() throws {
        let stack = try DataStack(Ticket.self)
        try stack.addStore(.inMemory())
        let id = try stack.performAndWait { transaction in
            let ticket = try transaction.create(Ticket.self)
            #expect((ticket.number, ticket.price, ticket.shift, ticket.isOpen, ticket.title) == (7, 1.5, -3, true, "new"))
            #expect(ticket.made.timeIntervalSinceReferenceDate == 5 && ticket.marks == [] && ticket.seats == [] && ticket.code == "A1")
            (ticket.number, ticket.marks, ticket.seats) = (8, ["x"], [1, 2])
            return ticket.objectID
        }
        let found = try stack.readAndWait { context in
            try context.fetchAll(Ticket.self, Where(\.number == 8 && \.shift < 0)).map { "\($0.number) \($0.marks) \($0.seats.sorted())" }
        }
        #expect(found == ["8 [\"x\"] [1, 2]"])
        #expect(id.entityName == "Ticket")
    }

    @Test func endsOfARelationshipWithinAClassFindEachOtherUnderTheirStoredNames() throws {
        let schema = Schema("Regions", Region.self)
        let inverses = Region._$entity.properties.compactMap { property -> String? in
            guard case .relationship(let relationship) = property else { return nil }
            return relationship.inverse.map { "\(relationship.name): \($0)" }
        }
        #expect(inverses.contains("parent: children"))
        let stack = try DataStack(schema)
        try stack.addStore(.inMemory())
        let titles = try stack.performAndWait { transaction in
            let (whole, part) = (try transaction.create(Region.self), try transaction.create(Region.self))
            part.title = "part"
            part.whole = whole
            return whole.parts.map(\.title)
        }
        #expect(titles == ["part"])
    }

    private let folder: Folder

    init() throws { folder = try Folder() }

    private func stack() throws -> DataStack {
        let stack = try DataStack(officeSchema)
        try stack.addStore(Backend.sqlite.store(in: folder))
        return stack
    }

    @Test func everyTypeReadsBackUnchanged() async throws {
        let stack = try stack()
        let token = UUID()
        let id = try await stack.perform { transaction in
            let employee = try transaction.create(Into<Employee>())
            #expect(employee.score == 1.5)
            #expect(employee.rank == .junior)
            employee.email = "a@b.c"
            employee.name = "Zoë 🦊"
            employee.born = Date(timeIntervalSinceReferenceDate: -1.25)
            employee.tags = ["x", "ÿ"]
            employee.address = Address(street: "1 Main", city: "Oslo")
            employee.rank = .chief
            employee.level = .high
            employee.weight = 0.1
            employee.salary = Decimal(string: "1234.56") ?? 0
            employee.token = token
            employee.home = URL(string: "https://example.com/?q=1")
            employee.photo = Data([0, 255, 0])
            employee.flags = .max
            employee.small = .min
            employee.isActive = false
            employee.age += 41
            employee.isSelected = true
            return employee.objectID
        }
        try await stack.read { context in
            let employee = try #require(try context.fetchExisting(id))
            #expect(employee.email == "a@b.c")
            #expect(employee.name == "Zoë 🦊")
            #expect(employee.born == Date(timeIntervalSinceReferenceDate: -1.25))
            #expect(employee.tags == ["x", "ÿ"])
            #expect(employee.address == Address(street: "1 Main", city: "Oslo"))
            #expect(employee.rank == .chief)
            #expect(employee.level == .high)
            #expect(employee.weight == 0.1)
            #expect(employee.salary == Decimal(string: "1234.56"))
            #expect(employee.token == token)
            #expect(employee.home?.absoluteString == "https://example.com/?q=1")
            #expect(employee.photo == Data([0, 255, 0]))
            #expect(employee.flags == .max)
            #expect(employee.small == .min)
            #expect(!employee.isActive)
            #expect(employee.age == 41)
            #expect(!employee.isSelected)
            #expect(employee.nickname == nil)
            #expect(employee.display == "Zoë 🦊 (41)")
        }
        #expect(try await stack.read { try $0.fetchCount(From<Employee>(), Where(\.rank == .chief && \.level == .high)) } == 1)
    }

    @Test func propertiesMayHaveTheNamesOfTheFrameworksMembers() async throws {
        let stack = try DataStack(Schema("Jobs 1", Job.self))
        try stack.addStore(.inMemory())
        let id = try await stack.perform { transaction in
            let job = try transaction.create(Into<Job>())
            job.state = "done"
            job.load += 1
            job.hierarchy = try transaction.create(Into<Job>())
            return job.objectID
        }
        try await stack.read { context in
            let job = try #require(try context.fetchExisting(id))
            #expect(job.state == "done")
            #expect(job.load == 2)
            #expect(job.entity == nil)
            #expect(job.hierarchy?.members == [job])
            #expect(try context.fetchCount(From<Job>(), Where(\.state == "done" && \.load == 2)) == 1)
        }
    }

    @Test func theSchemaDescribesTheClass() throws {
        let entity = Employee._$entity
        #expect(entity.name == "Employee")
        #expect(Office._$entity.name == "Bureau")
        let names = entity.properties.map(\.name)
        #expect(names.prefix(4) == ["email", "age", "full_name", "nickname"])
        #expect(!names.contains("isSelected") && !names.contains("display"))
        #expect(
            entity.indexes == [
                IndexDescription(fields: ["age", "full_name"]), IndexDescription(fields: ["full_name", "born"], isUnique: true),
            ])
        guard case .relationship(let office)? = entity.properties.first(where: { $0.name == "office" }) else {
            Issue.record("no relationship")
            return
        }
        #expect(office.inverse == "people")
        #expect(office.destination == "Bureau")
    }

    /// Each process evaluates the defaults again; the store stays compatible.
    @Test func defaultsMayDifferAtEveryStart() throws {
        let schema = Schema("Stamps", Stamp.self)
        let stack = try DataStack(schema)
        try stack.addStore(Backend.sqlite.store(in: folder))
        let (first, second) = try stack.performAndWait { transaction in
            let stamps = [try transaction.create(Into<Stamp>()), try transaction.create(Into<Stamp>())]
            return (stamps[0].token, stamps[1].token)
        }
        #expect(first != second)
        #expect(try stack.readAndWait { try $0.fetchAll(From<Stamp>()).map(\.token) } == [first, second])
        #expect(Stamp._$entity.withToken(UUID()).versionHash == schema.versionHash)
    }

    @Test func relationshipsWorkThroughTheMacro() throws {
        let stack = try stack()
        try stack.performAndWait { transaction in
            let office = try transaction.create(Into<Office>())
            for number in 0..<3 {
                let employee = try transaction.create(Into<Employee>())
                employee.email = "\(number)"
                employee.name = "\(number)"
                employee.office = office
            }
            #expect(office.staff.count == 3)
        }
        try stack.readAndWait { context in
            let office = try #require(try context.fetchOne(From<Office>()))
            #expect(office.staff.count == 3)
            #expect(try context.fetchCount(From<Employee>(), Where(\.office == office.objectID)) == 3)
        }
    }
}
