import Foundation
import PolyStore

/// A store whose values are equal often, null often, and at the borders of their types.
@Model final class Item {
    @Attribute(.indexed) var rank: Int32?
    @Attribute(.indexed) var isNew: Bool = false
    @Attribute(.indexed) var name: String = ""
    @Attribute(.unique) var code: String = ""
    @Attribute(.indexed) var made: Date?
    @Attribute(.indexed) var weight: Double?
    var score: Double?
    var rating: Float = 0
    var price: Decimal?
    var serial: UInt64 = 0
    var token: UUID?
    var bytes: Data?
    var page: URL?
    var tags: [String] = []
    @Relationship var maker: Maker?
    @Relationship var parts: [Part]
    #Search<Item>(\.name)
}

@Model final class Maker {
    @Attribute(.unique) var title: String = ""
    @Relationship(inverse: "maker") var items: Set<Item>
    @Relationship var friends: Set<Maker>
}

/// The root of a hierarchy.
@Model(subentities: "Wheel", "Screw") class Part {
    var number: Int64 = 0
    @Relationship(inverse: "parts") var items: Set<Item>
}

@Model final class Wheel: Part {
    var name: String = ""
}

@Model final class Screw: Part {
    var title: String = ""
}

/// Leads to objects that know nothing of it.
@Model final class Order {
    @Attribute(.indexed) var day: Date = Date()
    @Relationship var item: Item?
    @Relationship var part: Part?
    @Relationship var wishes: Set<Maker>
}

/// Has no objects.
@Model final class Empty {
    var value: Int64 = 0
}

enum Shop {
    static let schema = Schema("Shop 1", Item.self, Maker.self, Part.self, Order.self, Empty.self)
    static let itemCount = 150

    static let names = [
        "", "a", "b", "é", "e\u{301}", "Zoë", "it's \"so\"", "nul\0nul", "שלום", "line\nline\ttab\\",
        String(repeating: "long ", count: 200),
        String(repeating: "long ", count: 200) + "!",
    ]
    static let reals: [Double?] = [nil, 0, -0.0, 0.1, -1e300, 1e300, .infinity, -.infinity, .nan, 7, 7, 7]

    /// Creates the objects. Their ids are the same in every engine.
    static func fill(_ stack: DataStack) throws {
        try stack.performAndWait { transaction in
            var random = Numbers(seed: 1)
            let makers = try (0..<6).map { number in try transaction.create(Maker.self) { $0.title = number == 5 ? "" : "Maker \(number)" }
            }
            makers[0].friends = [makers[1], makers[2]]
            let wheels = try (0..<3).map { number in
                try transaction.create(Wheel.self) { ($0.name, $0.number) = ("Wheel \(number)", Int64(number)) }
            }
            let screw = try transaction.create(Screw.self) { ($0.title, $0.number) = ("Screw", 9) }
            var items: [Item] = []
            for number in 0..<itemCount {
                items.append(
                    try transaction.create(Item.self) { item in
                        item.rank = random.next(5) == 0 ? nil : [.min, -1, 0, 3, 4, .max][random.next(6)]
                        (item.isNew, item.name, item.code) = (random.next(3) == 0, names[random.next(names.count)], "code \(number)")
                        item.made = random.next(4) == 0 ? nil : Date(timeIntervalSinceReferenceDate: Double(random.next(20)) * 4e6 + 0.5)
                        (item.weight, item.score) = (reals[random.next(reals.count)], reals[random.next(reals.count)])
                        item.rating = Float(random.next(4)) / 10
                        item.price = random.next(3) == 0 ? nil : Decimal(random.next(9)) / 4
                        item.serial = random.next(2) == 0 ? .max - UInt64(random.next(3)) : UInt64(random.next(3))
                        item.token =
                            random.next(2) == 0 ? nil : UUID(uuid: (UInt8(random.next(3)), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9))
                        item.bytes = random.next(2) == 0 ? nil : Data([UInt8](repeating: UInt8(random.next(3)), count: random.next(3)))
                        item.page = random.next(2) == 0 ? nil : URL(string: "https://example.com/\(random.next(4))")
                        item.maker = random.next(3) == 0 ? nil : makers[random.next(5)]
                    })
            }
            // Holes among the ids.
            for number in stride(from: 3, to: itemCount, by: 11) { try transaction.delete(items[number]) }
            items[0].bytes = Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2])
            items[0].parts = [screw, wheels[2], wheels[0]]
            items[1].parts = [screw]
            for number in 0..<4 {
                try transaction.create(Order.self) { order in
                    order.day = Date(timeIntervalSinceReferenceDate: Double(number) * 1e8)
                    (order.item, order.part) = (number < 3 ? items[0] : nil, number == 0 ? wheels[0] : nil)
                    order.wishes = number == 1 ? [makers[1], makers[5]] : []
                }
            }
        }
    }
}

/// Numbers that a seed determines.
struct Numbers {
    private var state: UInt64
    init(seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 | 1 }

    /// Returns a number from 0 to below a limit.
    mutating func next(_ limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(limit))
    }
}
