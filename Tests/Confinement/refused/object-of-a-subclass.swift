// expected: conformance of 'Root' to 'Sendable' is unavailable
import PolyStoreBackend
import PolyStoreCore

class Root: Model {
    final var _$state: ModelState
    required init(_$state state: consuming ModelState) { _$state = state }
    required init(_$state state: consuming ModelState, decoding record: RecordView) throws { _$state = state }
    func _$load(_ record: RecordView) throws {}
    func _$encode(into builder: inout RecordBuilder) throws {}
    func _$toOne(_ relationship: Int) -> ToOne { .none }
    func _$setToOne(_ relationship: Int, _ target: ToOne) {}
    class var _$entityName: String { "Root" }
    class var _$entity: EntityDescription { EntityDescription(name: _$entityName, properties: []) }
    class var _$properties: ModelProperties { ModelProperties(Root.self, []) }
    static let _$hierarchy: ModelHierarchy? = ModelHierarchy(Root.self)
    class var _$inheritance: ModelInheritance { ModelInheritance(subentities: [Leaf.self]) }
}

@available(*, unavailable)
extension Root: @unchecked Sendable {}

final class Leaf: Root {
    override static var _$entityName: String { "Leaf" }
    override static var _$inheritance: ModelInheritance { ModelInheritance(superentity: Root.self) }
}

func leak(_ stack: DataStack) async throws {
    let leaf = try await stack.read { context in try context.fetchOne(From<Leaf>()) }
    print(leaf?.objectID as Any)
}
