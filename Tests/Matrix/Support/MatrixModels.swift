package import PolyStoreBackend
package import PolyStoreCore

/// The classes of a schema that a test makes at run time.
///
/// The schemas of the matrix differ in every program, and a schema needs classes. Each backend has its own classes, so that tests of several backends run at
/// once.
package protocol MatrixChannel: Sendable {
    static var entities: Protected<MatrixEntities> { get }
}

/// The declarations of the classes of a schema.
package struct MatrixEntities: Sendable {
    package var left = EntityDescription(name: "Left", properties: [])
    /// The subentity of the left entity; `nil` if the left entity holds no hierarchy.
    package var leaf: EntityDescription?
    package var right = EntityDescription(name: "Right", properties: [])
}

package enum SQLiteChannel: MatrixChannel { package static let entities = Protected(MatrixEntities()) }
package enum LMDBChannel: MatrixChannel { package static let entities = Protected(MatrixEntities()) }
package enum LevelDBChannel: MatrixChannel { package static let entities = Protected(MatrixEntities()) }

package class MatrixLeft<Channel: MatrixChannel>: Model {
    @exclusivity(unchecked) package var _$state: ModelState

    package required init(_$state state: consuming ModelState) { _$state = state }
    package required init(_$state state: consuming ModelState, decoding record: RecordView) throws { _$state = state }

    package func _$load(_ record: RecordView) throws {}
    package func _$encode(into builder: inout RecordBuilder) throws {}
    package func _$toOne(_ relationship: Int) -> ToOne { .none }
    package func _$setToOne(_ relationship: Int, _ target: ToOne) {}
    package func validate() throws {}
    package func validateForDelete() throws {}

    package class var _$entityName: String { _$entity.name }
    package class var _$entity: EntityDescription { Channel.entities.withLock { $0.left } }
    package class var _$properties: ModelProperties { ModelProperties(MatrixLeft<Channel>.self, []) }
    package class var _$hierarchy: ModelHierarchy? {
        Channel.entities.withLock { $0.leaf } == nil ? nil : ModelHierarchy(MatrixLeft<Channel>.self)
    }
    package class var _$inheritance: ModelInheritance { ModelInheritance(subentities: [MatrixLeaf<Channel>.self]) }
}

package final class MatrixLeaf<Channel: MatrixChannel>: MatrixLeft<Channel> {
    override package class var _$entity: EntityDescription {
        Channel.entities.withLock { $0.leaf } ?? EntityDescription(name: "Leaf", properties: [])
    }
    override package class var _$inheritance: ModelInheritance { ModelInheritance(superentity: MatrixLeft<Channel>.self) }
}

package final class MatrixRight<Channel: MatrixChannel>: Model {
    @exclusivity(unchecked) package var _$state: ModelState

    package init(_$state state: consuming ModelState) { _$state = state }
    package init(_$state state: consuming ModelState, decoding record: RecordView) throws { _$state = state }

    package func _$load(_ record: RecordView) throws {}
    package func _$encode(into builder: inout RecordBuilder) throws {}
    package func _$toOne(_ relationship: Int) -> ToOne { .none }
    package func _$setToOne(_ relationship: Int, _ target: ToOne) {}

    package static var _$entityName: String { _$entity.name }
    package static var _$entity: EntityDescription { Channel.entities.withLock { $0.right } }
    package static var _$properties: ModelProperties { ModelProperties(MatrixRight<Channel>.self, []) }
}

extension MatrixChannel {
    /// Returns the schema with the given declarations. It is valid until the next call.
    package static func schema(_ name: String, _ entities: MatrixEntities) -> Schema {
        self.entities.withLock { $0 = entities }
        return Schema(name, MatrixLeft<Self>.self, MatrixRight<Self>.self)
    }

    /// Returns the stored form of a version.
    package static func description(_ name: String, _ entities: MatrixEntities) -> SchemaDescription {
        SchemaDescription(name: name, entities: schema(name, entities).locked.entities)
    }
}
