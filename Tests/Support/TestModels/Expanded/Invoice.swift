// swift-format-ignore-file
// The expansion of Invoice.swift. Do not edit it: change the model, and run the tests with POLYSTORE_WRITE_EXPANDED_MODELS=1.

import Foundation
import PolyStoreBackend
import PolyStoreCore

/// An invoice of a customer.
package final class Invoice {
    package var number: Int {
        get {
            if _$state.isFault {
                _$fire(0)
            }
            return _$stored_number
        }
        set {
            _$willChange(0)
            _$stored_number = newValue
        }
    }
    package var amount: Decimal {
        get {
            if _$state.isFault {
                _$fire(1)
            }
            return _$stored_amount
        }
        set {
            _$willChange(1)
            _$stored_amount = newValue
        }
    }
    package var customer: Customer? {
        get {
            if _$state.isFault {
                _$fire(2)
            }
            return _$target(of: 0, _$stored_customer)
        }
        set {
            _$willChange(2)
            _$stored_customer = _$retarget(0, from: _$stored_customer, to: newValue)
        }
    }
    package var follows: Set<Invoice> {
        get {
            _$members(of: 1)
        }
        set {
            _$setMembers(of: 1, to: newValue)
        }
        _modify {
            yield &self[_$members: 1]
        }
    }

    @exclusivity(unchecked) package var _$state: PolyStoreCore.ModelState

    private var _$stored_number: Int

    private var _$stored_amount: Decimal

    private var _$stored_customer: PolyStoreCore.ToOne

    package required init(_$state state: consuming PolyStoreCore.ModelState) {
        self._$stored_number = PolyStoreCore.ModelCoding._initial((Int).self)
        self._$stored_amount = 0
        self._$stored_customer = .none
        self._$state = state
    }

    package required init(_$state state: consuming PolyStoreCore.ModelState, decoding record: PolyStoreCore._RecordView) throws {
        self._$stored_number = try PolyStoreCore.ModelCoding.of((Int).self).decode(record, 0)
        self._$stored_amount = try PolyStoreCore.ModelCoding.of((Decimal).self).decode(record, 1)
        self._$stored_customer = PolyStoreCore.ToOne(record, 2)
        self._$state = state
    }

    package func _$load(_ record: PolyStoreCore._RecordView) throws {
        self._$stored_number = try PolyStoreCore.ModelCoding.of((Int).self).decode(record, 0)
        self._$stored_amount = try PolyStoreCore.ModelCoding.of((Decimal).self).decode(record, 1)
        self._$stored_customer = PolyStoreCore.ToOne(record, 2)
    }

    package func _$encode(into builder: inout PolyStoreCore._RecordBuilder) throws {
        try PolyStoreCore.ModelCoding.of((Int).self).encode(self._$stored_number, into: &builder, 0)
        try PolyStoreCore.ModelCoding.of((Decimal).self).encode(self._$stored_amount, into: &builder, 1)
        self._$stored_customer.encode(into: &builder, 2)
    }

    package func _$toOne(_ relationship: Int) -> PolyStoreCore.ToOne {
        switch relationship {
        case 0:
            self._$stored_customer
        default:
            .none
        }
    }

    package func _$setToOne(_ relationship: Int, _ target: PolyStoreCore.ToOne) {
        switch relationship {
        case 0:
            self._$stored_customer = target
        default:
            break
        }
    }

    package static var _$entityName: String {
        "Invoice"
    }

    package static let _$entity = PolyStoreBackend.EntityDescription(
        name: "Invoice", originalName: nil,
        properties: [
            .attribute(PolyStoreCore.ModelCoding.of((Int).self).describe("number", options: [.unique], originalName: nil, default: nil)),
            .attribute(PolyStoreCore.ModelCoding.of((Decimal).self).describe("amount", options: [], originalName: nil, default: 0)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "customer", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Invoice.customer), isToMany: false, isOrdered: false, inverse: PolyStoreCore.ModelCoding.inverse("invoices", of: \Invoice.customer), deleteRule: .nullify, isRequired: false, minCount: 0, maxCount: nil)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "follows", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Invoice.follows), isToMany: true, isOrdered: false, inverse: "follows", deleteRule: .nullify, isRequired: false, minCount: 0, maxCount: nil)),
        ],
        indexes: [
        ])

    package static let _$properties = PolyStoreCore.ModelProperties(Invoice.self, [
            (\Invoice.number, "number"),
            (\Invoice.amount, "amount"),
            (\Invoice.customer, "customer"),
            (\Invoice.follows, "follows"),
        ])

    private static func _$checkProperties() {
        PolyStoreCore.ModelCheck.required((Int).self)
        PolyStoreCore.ModelCheck.attribute((Decimal).self)
        PolyStoreCore.ModelCheck.relationship(\Invoice.customer)
        let inverse0 = PolyStoreCore.ModelCheck.inverse(\Customer.invoices)
        inverse0.check(Invoice.self)
        PolyStoreCore.ModelCheck.relationship(\Invoice.follows)
        let inverse1 = PolyStoreCore.ModelCheck.inverse(\Invoice.follows)
        inverse1.check(Invoice.self)
    }
}

extension Invoice: PolyStoreCore.Model {
}

@available(*, unavailable, message: "objects belong to one context; pass their objectID instead")
extension Invoice: @unchecked Sendable {
}
