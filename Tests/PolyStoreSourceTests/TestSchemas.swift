import Foundation
import PolyStore
import PolyStoreBackend

/// Schemas that the generated classes of this target are made from.
enum TestSchemas {
    static let all: [(schema: SchemaDescription, namespace: String)] = [
        (types, "Types"), (library, "Library"), (fleet, "Fleet"), (names, "OddNames"),
    ]

    private static func attribute(
        _ name: String, _ type: AttributeType, _ isOptional: Bool = false, default value: Value? = nil, rules: [AttributeOption] = []
    ) -> PropertyDescription {
        .attribute(
            AttributeDescription(name: name, type: type, isOptional: isOptional, defaultValue: value, rules: rules.compactMap(\.rule)))
    }

    private static func relationship(
        _ name: String, _ destination: String, toMany isToMany: Bool = false, ordered isOrdered: Bool = false, inverse: String? = nil,
        delete: DeleteRule = .nullify, required: Bool = false, min: Int = 0, max: Int? = nil, originalName: String? = nil
    ) -> PropertyDescription {
        .relationship(
            RelationshipDescription(
                name: name, originalName: originalName, destination: destination, isToMany: isToMany, isOrdered: isOrdered,
                inverse: inverse,
                deleteRule: delete, isRequired: required, minCount: min, maxCount: max))
    }

    // MARK: Types, defaults and rules

    private static let defaults: [(AttributeType, [Value])] = [
        (.bool, [.integer(1), .integer(0)]), (.int8, [.integer(-128)]), (.int16, [.integer(32767)]), (.int32, [.integer(-7)]),
        (.int64, [.integer(.min), .integer(.max)]), (.uint8, [.integer(255)]), (.uint16, [.integer(1)]),
        (.uint32, [.integer(4_294_967_295)]),
        (.uint64, [.integer(-1)]), (.float, [.real(Double(Float(0.1))), .real(-.infinity), .real(.nan)]),
        (.double, [.real(0.1), .real(-1e300), .real(.infinity), .real(.nan)]), (.date, [.real(0), .real(-86400.125)]),
        (.decimal, [Decimal(5).attributeValue, Decimal(sign: .minus, exponent: -3, significand: 12345).attributeValue]),
        (.string, [.text(""), .text("it's \"quoted\" \\(1)\n\t\u{0}\u{2028}é€")]), (.url, [.text("https://example.com/a?b=c%20d")]),
        (.json, [.text("[\"a\",1]"), .text("{\"a\":{\"b\":null}}")]), (.data, [.blob([]), .blob([0, 255])]),
        (.uuid, [.blob([UInt8](0..<16))]),
    ]

    static let types: SchemaDescription = {
        var properties: [PropertyDescription] = []
        for (type, values) in defaults {
            properties += [attribute("\(type)Required", type), attribute("\(type)Optional", type, true)]
            for (position, value) in values.enumerated() {
                properties.append(attribute("\(type)Default\(position)", type, position % 2 == 1, default: value))
            }
        }
        let expressions = EntityDescription(
            name: "Expressions",
            properties: [
                .attribute(
                    AttributeDescription(
                        name: "id", type: .uuid, isUnique: true, defaultValue: .blob([UInt8](0..<16)), defaultExpression: .uuid)),
                .attribute(
                    AttributeDescription(name: "made", type: .date, isOptional: true, defaultValue: .real(1), defaultExpression: .date)),
            ])
        let rules = EntityDescription(
            name: "Rules",
            properties: [
                attribute("whole", .int64, rules: [.range(0...150)]), attribute("open", .int64, true, rules: [.range((-3)...)]),
                attribute("below", .int16, rules: [.range(..<Int16(7))]),
                attribute("unsigned", .uint64, rules: [.range(UInt64(1)...UInt64.max)]),
                attribute("half", .int64, rules: [.range(0.5...1.5)]), attribute("ratio", .float, rules: [.range(Float(-1)..<Float(1))]),
                attribute(
                    "price", .decimal, rules: [.range(Decimal(0)...), .range(...Decimal(sign: .plus, exponent: -1, significand: 95))]),
                attribute("day", .date, true, rules: [.range(Date(timeIntervalSinceReferenceDate: -1.5)...)]),
                attribute("name", .string, rules: [.length(1...50), .matches("[A-Z\\d]+\"")]),
                attribute("bytes", .data, rules: [.length(2...)]),
            ])
        return SchemaDescription(
            name: "Types 1", entities: [EntityDescription(name: "Everything", properties: properties), expressions, rules])
    }()

    // MARK: Relationships and indexes

    static let library = SchemaDescription(
        name: "Library",
        entities: [
            EntityDescription(
                name: "Author", originalName: "Writer",
                properties: [
                    .attribute(AttributeDescription(name: "email", type: .string, isUnique: true, originalName: "mail")),
                    .attribute(AttributeDescription(name: "born", type: .date, isOptional: true, isIndexed: true)),
                    relationship("books", "Book", toMany: true, ordered: true, inverse: "authors", min: 1, max: 9),
                    relationship("passport", "Passport", inverse: "owner", delete: .cascade),
                    relationship("friends", "Author", toMany: true, inverse: "friends"),
                    relationship("agent", "Author", inverse: "clients"),
                    relationship("clients", "Author", toMany: true, ordered: true),
                ]),
            EntityDescription(
                name: "Book",
                properties: [
                    attribute("title", .string, default: .text("")), attribute("year", .int32, true),
                    relationship("authors", "Author", toMany: true, ordered: true, inverse: "books"),
                    relationship("shelf", "Shelf", required: true, originalName: "rack"),
                    relationship("related", "Book", toMany: true), relationship("sequel", "Book", delete: .noAction),
                ],
                indexes: [
                    IndexDescription(fields: ["title", "year"], isUnique: true), IndexDescription(fields: ["shelf", "title"]),
                    IndexDescription(fields: ["year"]),
                ]),
            EntityDescription(
                name: "Shelf", properties: [relationship("books", "Book", toMany: true, inverse: "shelf", delete: .deny)]),
            EntityDescription(name: "Passport", properties: [relationship("owner", "Author", inverse: "passport", required: true)]),
            EntityDescription(name: "Empty", properties: []),
        ])

    // MARK: Hierarchies

    static let fleet = SchemaDescription(
        name: "Fleet",
        entities: [
            EntityDescription(
                name: "Vehicle",
                properties: [
                    .attribute(AttributeDescription(name: "plate", type: .string, isUnique: true)),
                    relationship("depot", "Depot", inverse: "vehicles"), attribute("doors", .int64, true, default: .integer(4)),
                    relationship("garage", "Depot"), attribute("load", .double, true), attribute("axles", .int64, true),
                    relationship("trailer", "Trailer", inverse: "truck"), attribute("length", .double, true),
                    .attribute(AttributeDescription(name: "_entity", type: .string, isIndexed: true)),
                ],
                indexes: [
                    IndexDescription(fields: ["plate"]), IndexDescription(fields: ["plate", "doors"]), IndexDescription(fields: ["load"]),
                ],
                hierarchy: EntityHierarchy(
                    isAbstract: true, properties: ["plate", "depot"],
                    subentities: [
                        SubentityDescription(
                            name: "Automobile", originalName: "Car", parent: "Vehicle", isAbstract: false, properties: ["doors", "garage"],
                            required: ["doors"]),
                        SubentityDescription(
                            name: "Truck", parent: "Automobile", isAbstract: false, properties: ["load", "axles", "trailer"],
                            required: ["load"]),
                        SubentityDescription(name: "Boat", parent: "Vehicle", isAbstract: false, properties: ["length"], required: []),
                    ])),
            EntityDescription(
                name: "Depot",
                properties: [relationship("vehicles", "Vehicle", toMany: true), relationship("watched", "Vehicle", toMany: true)]),
            EntityDescription(name: "Trailer", properties: [relationship("truck", "Vehicle", delete: .cascade)]),
        ])

    // MARK: Names

    static let names = SchemaDescription(
        name: "2 \"odd\" names",
        entities: [
            EntityDescription(
                name: "Order Details",
                properties: [
                    attribute("default", .int64), attribute("class", .string, true), attribute("Unit Price", .decimal),
                    attribute("unit_price", .decimal),
                    attribute("Type", .string), attribute("self", .string), attribute("init", .string), attribute("2nd", .bool),
                    attribute("größe", .double),
                    attribute("a\"b'c\\d", .string), attribute("_", .string), attribute("日本", .string, true), attribute("Date", .date),
                    attribute("description", .string, true), attribute("hash", .int64), attribute("id", .int64),
                    attribute("unit-price", .int64),
                    relationship("in", "class", inverse: "order details"), relationship("OddNames", "OddNames"),
                ],
                indexes: [IndexDescription(fields: ["default", "Unit Price", "in"], isUnique: true)]),
            EntityDescription(
                name: "class", properties: [relationship("order details", "Order Details", toMany: true, inverse: "in", delete: .cascade)]),
            EntityDescription(name: "Date", properties: [attribute("String", .string), attribute("date", .date)]),
            EntityDescription(name: "OddNames", properties: [attribute("PolyStoreCore", .string, true)]),
            EntityDescription(name: "order-details", properties: []), EntityDescription(name: "!", properties: [attribute("?", .int64)]),
        ])
}
