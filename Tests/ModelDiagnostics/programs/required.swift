import PolyStore
import PolyStoreBackend

enum Kind: String, Codable { case plain, special }
enum Rank: Int { case low, high }
struct Size: Codable { var width = 0 }
struct Point {}

/// An attribute without a default starts with the empty value of its type, so its type must have one.
@Model
final class Thing {
    var size: Size  // error: a Codable type has no empty value
    var sizes: [Size]  // error: a Codable type has no empty value
    var names: Set<String>  // error: a Codable type has no empty value
    var table: [String: Int]  // error: a Codable type has no empty value
    var kind: Kind  // error: an enum with raw values has no empty value
    var rank: Rank  // error: an enum with raw values has no empty value
    var point: Point  // error: this type cannot be stored
    @Attribute(.unique) var key: [UInt8]  // error: a Codable type has no empty value

    var text: String
    var number: Int
    var optionalSize: Size?
    var optionalRank: Rank?
    var sizeWithDefault: Size = Size()
    var kindWithDefault: Kind = .plain
}

typealias MaybeSize = Size?
typealias MaybeRank = Rank?

@Model
final class Aliased {
    var size: MaybeSize
    var rank: MaybeRank
}

/// A schema that is written by hand.
final class Written {
    var size: Size
    var rank: Rank
    var point: Point
    var name: String

    init() {
        size = ModelCoding.of(Size.self).initial  // error: give a Codable attribute a default
        rank = ModelCoding.of(Rank.self).initial  // error: give an attribute with raw values a default
        point = ModelCoding.of(Point.self).initial  // error: this type cannot be stored without a default value
        name = ModelCoding.of(String.self).initial
    }
}
