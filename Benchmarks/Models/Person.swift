import Foundation
import PolyStore

/// The person of the data set.
@Model final class Person {
    var name: String = ""
    @Attribute(.unique) var email: String
    @Attribute(.indexed) var age: Int = 0
    var score: Double = 0
    var isActive: Bool = false
    var createdAt: Date
    var notes: String = ""
    @Relationship(inverse: "people") var department: Department?
}
