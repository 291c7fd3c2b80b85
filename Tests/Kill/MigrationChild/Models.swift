import Foundation
import PolyStoreBackend
import PolyStoreCore

/// The expansion of
///
///     @Model final class Invoice {
///         @Attribute(.unique) var number: Int
///         var amount: Decimal = 0
///         @Relationship(inverse: "invoices") var customer: Customer?
///         @Relationship(inverse: "follows") var follows: Set<Invoice>
///     }
final class Invoice: Model {
    var _$state: ModelState
    private var storedNumber: Int = 0
    private var storedAmount: Decimal = 0
    private var storedCustomer: ToOne = .none

    init(_$state state: consuming ModelState) { _$state = state }

    init(_$state state: consuming ModelState, decoding record: RecordView) throws {
        _$state = state
        try _$load(record)
    }

    func _$load(_ record: RecordView) throws {
        storedNumber = try ModelCoding.of(Int.self).decode(record, 0)
        storedAmount = try ModelCoding.of(Decimal.self).decode(record, 1)
        storedCustomer = ToOne(record, 2)
    }

    func _$encode(into builder: inout RecordBuilder) throws {
        try ModelCoding.of(Int.self).encode(storedNumber, into: &builder, 0)
        try ModelCoding.of(Decimal.self).encode(storedAmount, into: &builder, 1)
        storedCustomer.encode(into: &builder, 2)
    }

    func _$toOne(_ relationship: Int) -> ToOne { relationship == 0 ? storedCustomer : .none }
    func _$setToOne(_ relationship: Int, _ target: ToOne) { if relationship == 0 { storedCustomer = target } }

    var number: Int {
        get {
            if _$state.isFault { _$fire(0) }
            return storedNumber
        }
        set {
            _$willChange(0)
            storedNumber = newValue
        }
    }
    var amount: Decimal {
        get {
            if _$state.isFault { _$fire(1) }
            return storedAmount
        }
        set {
            _$willChange(1)
            storedAmount = newValue
        }
    }
    var customer: Customer? {
        get {
            if _$state.isFault { _$fire(2) }
            return _$target(of: 0, storedCustomer)
        }
        set {
            _$willChange(2)
            storedCustomer = _$retarget(0, from: storedCustomer, to: newValue)
        }
    }
    var follows: Set<Invoice> {
        get { _$members(of: 1) }
        set { _$setMembers(of: 1, to: newValue) }
        _modify { yield &self[_$members: 1] }
    }

    static var _$entityName: String { "Invoice" }
    static let _$entity = EntityDescription(
        name: "Invoice",
        properties: [
            .attribute(ModelCoding.of(Int.self).describe("number", options: [.unique], originalName: nil, default: nil)),
            .attribute(ModelCoding.of(Decimal.self).describe("amount", options: [], originalName: nil, default: 0)),
            .relationship(RelationshipDescription(name: "customer", destination: "Customer", isToMany: false, inverse: "invoices")),
            .relationship(RelationshipDescription(name: "follows", destination: "Invoice", isToMany: true, inverse: "follows")),
        ])
    static let _$properties = ModelProperties(
        Invoice.self,
        [(\Invoice.number, "number"), (\Invoice.amount, "amount"), (\Invoice.customer, "customer"), (\Invoice.follows, "follows")])
}

/// The expansion of
///
///     @Model final class Customer {
///         @Attribute(.unique) var name: String
///         @Relationship var invoices: Set<Invoice>
///     }
final class Customer: Model {
    var _$state: ModelState
    private var storedName: String = ""

    init(_$state state: consuming ModelState) { _$state = state }

    init(_$state state: consuming ModelState, decoding record: RecordView) throws {
        _$state = state
        try _$load(record)
    }

    func _$load(_ record: RecordView) throws { storedName = try ModelCoding.of(String.self).decode(record, 0) }
    func _$encode(into builder: inout RecordBuilder) throws { try ModelCoding.of(String.self).encode(storedName, into: &builder, 0) }
    func _$toOne(_ relationship: Int) -> ToOne { .none }
    func _$setToOne(_ relationship: Int, _ target: ToOne) {}

    var name: String {
        get {
            if _$state.isFault { _$fire(0) }
            return storedName
        }
        set {
            _$willChange(0)
            storedName = newValue
        }
    }
    var invoices: Set<Invoice> {
        get { _$members(of: 0) }
        set { _$setMembers(of: 0, to: newValue) }
        _modify { yield &self[_$members: 0] }
    }

    static var _$entityName: String { "Customer" }
    static let _$entity = EntityDescription(
        name: "Customer",
        properties: [
            .attribute(ModelCoding.of(String.self).describe("name", options: [.unique], originalName: nil, default: nil)),
            .relationship(RelationshipDescription(name: "invoices", destination: "Invoice", isToMany: true)),
        ])
    static let _$properties = ModelProperties(Customer.self, [(\Customer.name, "name"), (\Customer.invoices, "invoices")])
}
