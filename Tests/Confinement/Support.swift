import PolyStoreBackend
import PolyStoreCore

/// A model with one attribute, written without the macro so that the programs compile without its plug-in.
final class Note: Model {
    var _$state: ModelState
    private var stored = ""
    init(_$state state: consuming ModelState) { _$state = state }
    init(_$state state: consuming ModelState, decoding record: RecordView) throws { _$state = state }
    func _$load(_ record: RecordView) throws {}
    func _$encode(into builder: inout RecordBuilder) throws {}
    func _$toOne(_ relationship: Int) -> ToOne { .none }
    func _$setToOne(_ relationship: Int, _ target: ToOne) {}
    var text: String {
        get { stored }
        set { stored = newValue }
    }
    static var _$entityName: String { "Note" }
    static let _$entity = EntityDescription(name: "Note", properties: [])
    static let _$properties = ModelProperties(Note.self, [])
}

@available(*, unavailable)
extension Note: @unchecked Sendable {}
