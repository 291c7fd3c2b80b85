import PolyStoreBackend

/// A row of a stack, identified by its entity index and row id.
package struct RowReference: Hashable, Sendable {
    package let entityIndex: Int32
    package let rowID: Int64

    package init(entityIndex: Int32, rowID: Int64) {
        self.entityIndex = entityIndex
        self.rowID = rowID
    }
}

extension Model {
    var rowReference: RowReference { RowReference(entityIndex: _$state.entityIndex, rowID: _$state.rowID) }
}

/// A relationship of one object.
@usableFromInline
package struct RelationshipKey: Hashable {
    @usableFromInline package let entityIndex: Int32
    /// The index of the relationship in its entity.
    @usableFromInline package let relationship: Int32
    @usableFromInline let rowID: Int64

    @usableFromInline
    init(entityIndex: Int32, relationship: Int32, rowID: Int64) {
        self.entityIndex = entityIndex
        self.relationship = relationship
        self.rowID = rowID
    }

    /// The object that has the relationship.
    package var owner: RowReference { RowReference(entityIndex: entityIndex, rowID: rowID) }
}

/// The type of a relationship property: `T?`, `Set<T>` or `[T]`, where `T` is a model.
public protocol ModelReference {
    /// The class of the objects at the other end.
    associatedtype ReferencedModel: Model
}
extension Optional: ModelReference where Wrapped: Model {
    /// The class of the object at the other end.
    public typealias ReferencedModel = Wrapped
}
extension Set: ModelReference where Element: Model {
    /// The class of the objects at the other end.
    public typealias ReferencedModel = Element
}
extension Array: ModelReference where Element: Model {
    /// The class of the objects at the other end.
    public typealias ReferencedModel = Element
}

/// The type of a to-many relationship property.
package protocol MembersType {
    /// The key path of the number of members.
    static var countPath: AnyKeyPath { get }
    /// The key path of the property that indicates whether the collection is empty.
    static var isEmptyPath: AnyKeyPath { get }
}
extension Set: MembersType where Element: Model {
    package static var countPath: AnyKeyPath { \Set<Element>.count }
    package static var isEmptyPath: AnyKeyPath { \Set<Element>.isEmpty }
}
extension Array: MembersType where Element: Model {
    package static var countPath: AnyKeyPath { \[Element].count }
    package static var isEmptyPath: AnyKeyPath { \[Element].isEmpty }
}

/// The value of a to-one relationship: the row id of the target, 0 for none.
public struct ToOne: Sendable, Hashable {
    /// The row id of the target; 0 for none.
    public var rowID: Int64

    /// Creates a value from the row id of the target.
    @inlinable public init(rowID: Int64) { self.rowID = rowID }
    /// Reads a field of a record.
    @inlinable public init(_ record: RecordView, _ field: Int) { rowID = record.isNull(field) ? 0 : record.integer64(field) }
    /// The value without a target.
    @inlinable public static var none: ToOne { ToOne(rowID: 0) }
    /// Writes a field of a record. Writes nothing for a value without a target.
    @inlinable
    public func encode(into builder: inout RecordBuilder, _ field: Int) { if rowID != 0 { builder.setInteger(field, rowID) } }
}
