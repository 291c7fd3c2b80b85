// swift-format-ignore-file
// The expansion of Document.swift. Do not edit it: change the model, and run the tests with POLYSTORE_WRITE_EXPANDED_MODELS=1.

import PolyStoreBackend
import PolyStoreCore

/// A text with a full-text index.
final class Document {
    var body: String {
        get {
            if _$state.isFault {
                _$fire(0)
            }
            return _$stored_body
        }
        set {
            _$willChange(0)
            _$stored_body = newValue
        }
    }

    @exclusivity(unchecked) var _$state: PolyStoreCore.ModelState

    private var _$stored_body: String

    required init(_$state state: consuming PolyStoreCore.ModelState) {
        self._$stored_body = ""
        self._$state = state
    }

    required init(_$state state: consuming PolyStoreCore.ModelState, decoding record: PolyStoreCore._RecordView) throws {
        self._$stored_body = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 0)
        self._$state = state
    }

    func _$load(_ record: PolyStoreCore._RecordView) throws {
        self._$stored_body = try PolyStoreCore.ModelCoding.of((String).self).decode(record, 0)
    }

    func _$encode(into builder: inout PolyStoreCore._RecordBuilder) throws {
        try PolyStoreCore.ModelCoding.of((String).self).encode(self._$stored_body, into: &builder, 0)
    }

    func _$toOne(_ relationship: Int) -> PolyStoreCore.ToOne {
        switch relationship {
        default:
            .none
        }
    }

    func _$setToOne(_ relationship: Int, _ target: PolyStoreCore.ToOne) {
        switch relationship {
        default:
            break
        }
    }

    static var _$entityName: String {
        "Document"
    }

    static let _$entity = PolyStoreBackend.EntityDescription(
        name: "Document", originalName: nil,
        properties: [
            .attribute(PolyStoreCore.ModelCoding.of((String).self).describe("body", options: [], originalName: nil, default: "")),
        ],
        indexes: [
        ],
        searchIndexes: [
            PolyStoreBackend.SearchIndexDescription(fields: ["body"]),
        ])

    static let _$properties = PolyStoreCore.ModelProperties(Document.self, [
            (\Document.body, "body"),
        ])

    private static func _$checkProperties() {
        PolyStoreCore.ModelCheck.attribute((String).self)
    }
}

extension Document: PolyStoreCore.Model {
}

@available(*, unavailable, message: "objects belong to one context; pass their objectID instead")
extension Document: @unchecked Sendable {
}
