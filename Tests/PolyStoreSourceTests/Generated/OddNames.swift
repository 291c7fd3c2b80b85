// swift-format-ignore-file
import Foundation
import PolyStore

enum OddNames {
    @Model(entity: "Order Details")
    final class OrderDetails {
        var `default`: Int
        var `class`: String?
        @Attribute(name: "Unit Price") var unitPrice: Decimal
        var unit_price: Decimal
        @Attribute(name: "Type") var type: String
        @Attribute(name: "self") var selfValue: String
        @Attribute(name: "init") var initValue: String
        @Attribute(name: "2nd") var _2nd: Bool
        var größe: Double
        @Attribute(name: "a\"b'c\\d") var aBCD: String
        @Attribute(name: "_") var property: String
        var 日本: String?
        @Attribute(name: "Date") var date: Date
        @Attribute(name: "description") var descriptionValue: String?
        @Attribute(name: "hash") var hashValueValue: Int
        var id: Int
        @Attribute(name: "unit-price") var unitPrice2: Int
        @Relationship(inverse: "orderDetails") var `in`: ClassEntity?
        @Relationship(name: "OddNames") var oddNames: OddNames2?

        #Unique<OrderDetails>(\.`default`, \.unitPrice, \.`in`)
    }

    @Model(entity: "class")
    final class ClassEntity {
        @Relationship(deleteRule: .cascade, inverse: "in", name: "order details") var orderDetails: Set<OrderDetails>
    }

    @Model(entity: "Date")
    final class DateEntity {
        @Attribute(name: "String") var string: String
        var date: Date
    }

    @Model(entity: "OddNames")
    final class OddNames2 {
        @Attribute(name: "PolyStoreCore") var polyStoreCore: String?
    }

    @Model(entity: "order-details")
    final class OrderDetails2 {}

    @Model(entity: "!")
    final class Entity {
        @Attribute(name: "?") var property: Int
    }

    static let schema = Schema("2 \"odd\" names", OrderDetails.self, ClassEntity.self, DateEntity.self, OddNames2.self, OrderDetails2.self, Entity.self)
}
