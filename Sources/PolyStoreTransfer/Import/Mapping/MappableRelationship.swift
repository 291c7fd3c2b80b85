import PolyStoreKernel

/// The type of a relationship that an import can assign: an optional object, a set or an array of objects.
public protocol MappableRelationship<Target> {
    /// The class of the related objects.
    associatedtype Target: ImportableUniqueObject
    /// A Boolean value that indicates whether the relationship is to-many.
    static var _$isToMany: Bool { get }
    /// Assigns references to the relationship; it is set when they are resolved.
    static func _$assign<Root: Model>(
        _ references: ImportReferences<Target>, to path: ReferenceWritableKeyPath<Root, Self>, on object: Root
    ) throws
}

extension Optional: MappableRelationship where Wrapped: ImportableUniqueObject {
    public static var _$isToMany: Bool { false }
    public static func _$assign<Root: Model>(
        _ references: ImportReferences<Wrapped>, to path: ReferenceWritableKeyPath<Root, Wrapped?>, on object: Root
    ) throws { try references.only.assign(to: path, on: object) }
}

extension Set: MappableRelationship where Element: ImportableUniqueObject {
    public static var _$isToMany: Bool { true }
    public static func _$assign<Root: Model>(
        _ references: ImportReferences<Element>, to path: ReferenceWritableKeyPath<Root, Set<Element>>, on object: Root
    ) throws { try references.assign(to: path, on: object) }
}

extension Array: MappableRelationship where Element: ImportableUniqueObject {
    public static var _$isToMany: Bool { true }
    public static func _$assign<Root: Model>(
        _ references: ImportReferences<Element>, to path: ReferenceWritableKeyPath<Root, [Element]>, on object: Root
    ) throws { try references.assign(to: path, on: object) }
}
