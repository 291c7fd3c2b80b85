import Foundation
import PolyStore

/// The object that W16 and W17 import: the fields and indexes of ``Person``, with the number of the department as an attribute.
@Model final class Contact {
    var name: String = ""
    @Attribute(.unique) var email: String
    @Attribute(.indexed) var age: Int = 0
    var score: Double = 0
    var isActive: Bool = false
    var createdAt: Date
    var notes: String = ""
    @Attribute(.indexed) var departmentNumber: Int = 0
}
