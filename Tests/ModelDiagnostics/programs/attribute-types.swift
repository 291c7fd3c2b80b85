import PolyStore

enum Kind { case plain, special }
enum Rank: Int { case low, high }
struct Point {}
struct Size: Codable { var width = 0 }

@Model
final class Thing {
    var kind: Kind = .plain  // error: this type cannot be stored
    var optionalKind: Kind?  // error: this type cannot be stored
    var point: Point = Point()  // error: this type cannot be stored
    var tuple: (Int, Int) = (0, 0)  // error: this type cannot be stored
    var any: Any  // error: this type cannot be stored
    var closure: () -> Void = {}  // error: this type cannot be stored
    var points: [Point] = []  // error: this type cannot be stored

    var rank: Rank = .low
    var optionalRank: Rank?
    var size: Size = Size()
    var optionalSize: Size?
    var sizes: [Size] = []
    var names: Set<String> = []
    var table: [String: [Int]] = [:]
}
