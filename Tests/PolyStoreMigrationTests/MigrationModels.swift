import Foundation
import PolyStore
import PolyStoreBackend
import PolyStoreKeyValue
import Testing

// The current version. The earlier versions of the tests are derived from its description.

@Model
final class Member {
    @Attribute(.unique) var email: String = ""
    @Attribute(.indexed) var age: Int = 7
    @Attribute(originalName: "nick") var nickname: String?
    var score: Double = 1.5
    var label: String = "none"
    var born: Date?
    var photo: Data?
    var level: Int16 = 3
    @Relationship(inverse: "members", originalName: "society") var club: Club?
    @Relationship(inverse: "friends") var friends: Set<Member>
    @Relationship(inverse: "holders") var badges: [Badge]
    @Relationship(inverse: "mentored") var mentor: Member?
    @Relationship var mentored: Set<Member>
}

@Model(originalName: "Society")
final class Club {
    var title: String = ""
    var founded: Date?
    @Relationship var members: [Member]
}

@Model
final class Badge {
    @Attribute(.unique) var code: String = ""
    var weight: Double?
    @Relationship var holders: Set<Member>
}

let currentSchema = Schema("Current", Member.self, Club.self, Badge.self)

extension SchemaDescription {
    /// The description of the current version.
    static var current: SchemaDescription { SchemaDescription(name: "Current", entities: currentSchema.locked.entities) }

    subscript(entity: String) -> EntityDescription {
        get { entities.first { $0.name == entity } ?? EntityDescription(name: entity, properties: []) }
        set {
            if let index = entities.firstIndex(where: { $0.name == entity }) {
                entities[index] = newValue
            } else {
                entities.append(newValue)
            }
        }
    }

    mutating func rename(entity: String, to name: String) {
        self[entity].name = name
        for index in entities.indices {
            entities[index].properties = entities[index].properties.map { property in
                guard case .relationship(var relationship) = property, relationship.destination == entity else { return property }
                relationship.destination = name
                return .relationship(relationship)
            }
        }
    }
}

extension EntityDescription {
    mutating func remove(_ name: String) { properties.removeAll { $0.name == name } }

    mutating func attribute(_ name: String, _ change: (inout AttributeDescription) -> Void) {
        properties = properties.map { property in
            guard case .attribute(var attribute) = property, attribute.name == name else { return property }
            change(&attribute)
            return .attribute(attribute)
        }
    }

    mutating func relationship(_ name: String, _ change: (inout RelationshipDescription) -> Void) {
        properties = properties.map { property in
            guard case .relationship(var relationship) = property, relationship.name == name else { return property }
            change(&relationship)
            return .relationship(relationship)
        }
    }
}
