import Foundation
import PolyStore
import PolyStoreBackend
import Testing

/// A difference between an earlier version and the current one, with its effect on the data.
struct SchemaEdit: Sendable, CustomTestStringConvertible {
    let name: String
    /// Turns the newer description into the earlier one.
    let undo: @Sendable (inout SchemaDescription) -> Void
    /// Turns the contents of a store of the earlier version into those of the newer one.
    let migrate: @Sendable (inout StoreContents) -> Void
    /// A Boolean value that indicates whether the versions differ only in indexes, which needs no migration.
    var isIndexOnly = false

    var testDescription: String { name }

    static let all: [SchemaEdit] = [
        SchemaEdit(name: "optional attribute added") {
            $0["Member"].remove("nickname")
        } migrate: {
            $0.set("Member", "nickname", .value(.null))
        },
        SchemaEdit(name: "attribute with default added") {
            $0["Member"].remove("score")
        } migrate: {
            $0.set("Member", "score", .value(.real(1.5)))
        },
        SchemaEdit(name: "text with default added") {
            $0["Member"].remove("label")
        } migrate: {
            $0.set("Member", "label", .value(.text("none")))
        },
        SchemaEdit(name: "attribute removed") {
            $0["Member"].properties.insert(.attribute(AttributeDescription(name: "extra", type: .string)), at: 1)
        } migrate: {
            $0.remove("Member", "extra")
        },
        SchemaEdit(name: "data removed") {
            $0["Club"].properties.append(.attribute(AttributeDescription(name: "blob", type: .data)))
        } migrate: {
            $0.remove("Club", "blob")
        },
        SchemaEdit(name: "attribute renamed") {
            $0["Member"].attribute("nickname") { $0.name = "nick" }
        } migrate: {
            $0.rename("Member", "nick", to: "nickname")
        },
        SchemaEdit(name: "properties reordered") {
            $0["Member"].properties.reverse()
        } migrate: { _ in
        },
        SchemaEdit(name: "optional becomes required") {
            $0["Member"].attribute("label") { $0.isOptional = true }
        } migrate: {
            $0.map("Member", "label") { $0.isNull ? .text("none") : $0 }
        },
        SchemaEdit(name: "indexed optional becomes required") {
            $0["Member"].attribute("age") { $0.isOptional = true }
        } migrate: {
            $0.map("Member", "age") { $0.isNull ? .integer(7) : $0 }
        },
        SchemaEdit(name: "required becomes optional") {
            $0["Member"].attribute("born") { $0.isOptional = false }
            $0["Member"].attribute("photo") { $0.isOptional = false }
        } migrate: { _ in
        },
        SchemaEdit(name: "Int8 to Int") {
            $0["Member"].attribute("age") { $0.type = .int8 }
        } migrate: { _ in
        },
        SchemaEdit(name: "UInt16 to Int") {
            $0["Member"].attribute("age") { $0.type = .uint16 }
        } migrate: { _ in
        },
        SchemaEdit(name: "Int8 to Int16") {
            $0["Member"].attribute("level") { $0.type = .int8 }
        } migrate: { _ in
        },
        SchemaEdit(name: "Float to Double") {
            $0["Member"].attribute("score") { $0.type = .float }
        } migrate: { _ in
        },
        SchemaEdit(name: "Int to Double") {
            $0["Member"].attribute("score") { ($0.type, $0.defaultValue) = (.int32, .integer(1)) }
        } migrate: {
            $0.map("Member", "score") { if case .integer(let value) = $0 { .real(Double(value)) } else { $0 } }
        },
        SchemaEdit(name: "Int to String") {
            $0["Member"].attribute("label") {
                $0.type = .int64
                $0.defaultValue = nil
            }
        } migrate: {
            $0.map("Member", "label") { if case .integer(let value) = $0 { .text("\(value)") } else { $0 } }
        },
        SchemaEdit(name: "Bool to String") {
            $0["Member"].attribute("label") {
                $0.type = .bool
                $0.defaultValue = nil
            }
        } migrate: {
            $0.map("Member", "label") { if case .integer(let value) = $0 { .text(value == 1 ? "true" : "false") } else { $0 } }
        },
        SchemaEdit(name: "Decimal to String") {
            $0["Member"].attribute("label") {
                $0.type = .decimal
                $0.defaultValue = nil
            }
        } migrate: {
            $0.map("Member", "label") {
                guard case .blob(let bytes) = $0 else { return $0 }
                return .text("\((0..<100).first { Decimal($0).attributeValue == .blob(bytes) } ?? -1)")
            }
        },
        SchemaEdit(name: "URL to String") {
            $0["Member"].attribute("label") {
                $0.type = .url
                $0.defaultValue = nil
            }
        } migrate: { _ in
        },
        SchemaEdit(name: "entity added") {
            $0.entities.removeAll { $0.name == "Badge" }
            $0["Member"].remove("badges")
        } migrate: {
            $0.entities["Badge"] = [:]
            $0.set("Member", "badges", .ids([]))
        },
        SchemaEdit(name: "entity removed") {
            $0.entities.append(
                EntityDescription(
                    name: "Locker",
                    properties: [
                        .attribute(AttributeDescription(name: "number", type: .int32, isUnique: true)),
                        .relationship(RelationshipDescription(name: "owner", destination: "Member", isToMany: false)),
                        .relationship(RelationshipDescription(name: "users", destination: "Member", isToMany: true)),
                    ]))
        } migrate: {
            $0.entities["Locker"] = nil
        },
        SchemaEdit(name: "entity renamed") {
            $0.rename(entity: "Club", to: "Society")
        } migrate: {
            $0.entities["Club"] = $0.entities["Society"]
            $0.entities["Society"] = nil
        },
        SchemaEdit(name: "to-one added") {
            $0["Member"].remove("mentor")
            $0["Member"].remove("mentored")
        } migrate: {
            $0.set("Member", "mentor", .ids([]))
            $0.set("Member", "mentored", .ids([]))
        },
        SchemaEdit(name: "to-many added") {
            $0["Member"].remove("friends")
        } migrate: {
            $0.set("Member", "friends", .ids([]))
        },
        SchemaEdit(name: "relationships removed") {
            $0["Member"].properties.append(.relationship(RelationshipDescription(name: "rival", destination: "Member", isToMany: false)))
            $0["Member"].properties.append(
                .relationship(RelationshipDescription(name: "visits", destination: "Club", isToMany: true, isOrdered: true)))
        } migrate: {
            $0.remove("Member", "rival")
            $0.remove("Member", "visits")
        },
        SchemaEdit(name: "to-one renamed") {
            $0["Member"].relationship("club") { $0.name = "society" }
            $0["Club"].relationship("members") { if $0.inverse != nil { $0.inverse = "society" } }
        } migrate: {
            $0.rename("Member", "society", to: "club")
        },
        SchemaEdit(name: "unordered becomes ordered") {
            $0["Member"].relationship("badges") { $0.isOrdered = false }
        } migrate: { _ in
        },
        SchemaEdit(name: "unordered inverse becomes ordered") {
            $0["Club"].relationship("members") { $0.isOrdered = false }
        } migrate: { _ in
        },
        SchemaEdit(name: "to-one becomes to-many") {
            $0["Member"].relationship("badges") {
                $0.isToMany = false
                $0.isOrdered = false
            }
        } migrate: { _ in
        },
        SchemaEdit(name: "index added") {
            $0["Member"].attribute("age") { $0.isIndexed = false }
        } migrate: { _ in
        } isIndexOnly: {
            true
        },
        SchemaEdit(name: "index removed") {
            $0["Member"].attribute("score") { $0.isIndexed = true }
            $0["Member"].indexes.append(IndexDescription(fields: ["level", "label"]))
        } migrate: { _ in
        } isIndexOnly: {
            true
        },
        SchemaEdit(name: "uniqueness added") {
            $0["Badge"].attribute("code") { $0.isUnique = false }
        } migrate: { _ in
        },
        SchemaEdit(name: "uniqueness removed") {
            $0["Club"].attribute("title") { $0.isUnique = true }
        } migrate: { _ in
        },
    ]

    init(
        name: String, _ undo: @escaping @Sendable (inout SchemaDescription) -> Void,
        migrate: @escaping @Sendable (inout StoreContents) -> Void,
        isIndexOnly: () -> Bool = { false }
    ) {
        self.name = name
        self.undo = undo
        self.migrate = migrate
        self.isIndexOnly = isIndexOnly()
    }
}
