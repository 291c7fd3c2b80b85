import Foundation
import PolyStore

/// An attribute of every kind, and a to-one relationship without an inverse.
@Model package final class Gadget {
    package enum Kind: String, Codable, Sendable {
        case plain, fancy
    }

    package var label: String = ""
    package var kind: Kind = .plain
    package var level: Int8 = 0
    package var serial: UInt64 = 0
    package var weight: Double = 0
    package var ratio: Float = 0
    package var price: Decimal = 0
    package var isOn: Bool = false
    package var made: Date?
    @Attribute(.unique) package var code: UUID?
    package var tags: [String] = []
    package var bonus: Int?
    @Relationship package var part: Gadget?
}
