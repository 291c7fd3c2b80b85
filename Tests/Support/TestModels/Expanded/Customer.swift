// swift-format-ignore-file
// The expansion of Customer.swift. Do not edit it: change the model, and run the tests with POLYSTORE_WRITE_EXPANDED_MODELS=1.

import PolyStoreBackend
import PolyStoreCore

/// A customer with invoices.
package final class Customer {
    package var name: String {
        get {
            if _$state.isFault {
                _$fire(0)
            }
            return _$stored_name
        }
        set {
            _$willChange(0)
            _$stored_name = newValue
        }
    }
    package var invoices: Set<Invoice> {
        get {
            _$members(of: 0)
        }
        set {
            _$setMembers(of: 0, to: newValue)
        }
        _modify {
            yield &self[_$members: 0]
        }
    }

    @exclusivity(unchecked) package var _$state: PolyStoreCore.ModelState

    private var _$stored_name: String

    package required init(_$state state: consuming PolyStoreCore.ModelState) {
        self._$stored_name = PolyStoreCore.ModelCoding._initial((String).self)
        self._$state = state
    }

    package required init(_$state state: consuming PolyStoreCore.ModelState, decoding record: PolyStoreCore._RecordView) throws {
        self._$stored_name = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 0)
        self._$state = state
    }

    package func _$load(_ record: PolyStoreCore._RecordView) throws {
        self._$stored_name = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 0)
    }

    package func _$encode(into builder: inout PolyStoreCore._RecordBuilder) throws {
        try PolyStoreCore.ModelCoding.of((String).self).encode(self._$stored_name, into: &builder, 0)
    }

    package func _$toOne(_ relationship: Int) -> PolyStoreCore.ToOne {
        switch relationship {
        default:
            .none
        }
    }

    package func _$setToOne(_ relationship: Int, _ target: PolyStoreCore.ToOne) {
        switch relationship {
        default:
            break
        }
    }

    package static var _$entityName: String {
        "Customer"
    }

    package static let _$entity = PolyStoreBackend.EntityDescription(
        name: "Customer", originalName: nil,
        properties: [
            .attribute(PolyStoreCore.ModelCoding.of((String).self).describe("name", options: [.unique], originalName: nil, default: nil)),
            .relationship(PolyStoreBackend.RelationshipDescription(name: "invoices", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\Customer.invoices), isToMany: true, isOrdered: false, inverse: nil, deleteRule: .nullify, isRequired: false, minCount: 0, maxCount: nil)),
        ],
        indexes: [
        ])

    package static let _$properties = PolyStoreCore.ModelProperties(Customer.self, [
            (\Customer.name, "name"),
            (\Customer.invoices, "invoices"),
        ])

    private static func _$checkProperties() {
        PolyStoreCore.ModelCheck.required((String).self)
        PolyStoreCore.ModelCheck.relationship(\Customer.invoices)
    }
}

extension Customer: PolyStoreCore.Model {
}

@available(*, unavailable, message: "objects belong to one context; pass their objectID instead")
extension Customer: @unchecked Sendable {
}
