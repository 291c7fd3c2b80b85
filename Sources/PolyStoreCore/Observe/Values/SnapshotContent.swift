import PolyStoreBackend

/// Which values the snapshots of a list contain.
///
///     stack.snapshots(of: people, content: .attributes(\.name, \.age))
public struct SnapshotContent<T: Model>: Sendable {
    /// The ordinals of the fields; nil: all that the class has.
    let fields: FieldMask?
    /// Why it cannot be used; thrown by the function that it is passed to.
    let error: StoreError?

    private init(_ fields: FieldMask?, error: StoreError? = nil) {
        self.fields = fields
        self.error = error
    }

    /// Every attribute and to-one relationship.
    public static var all: SnapshotContent { SnapshotContent(nil) }

    /// The ids alone: nothing else is read or kept.
    public static var ids: SnapshotContent { SnapshotContent(FieldMask()) }

    /// Some attributes and to-one relationships. A path that is neither makes the function that receives the content throw `invalidPredicate`.
    public static func attributes(_ paths: PartialKeyPath<T>...) -> SnapshotContent {
        var mask = FieldMask()
        for path in paths {
            guard let field = T._$properties.knownField(path) else { return SnapshotContent(mask, error: unknown(path)) }
            mask.insert(field.ordinal)
        }
        return SnapshotContent(mask)
    }

    static func unknown(_ path: PartialKeyPath<T>) -> StoreError {
        StoreError(
            .invalidPredicate,
            "A key path of \(T._$entityName) to \(type(of: path).valueType) is not a stored attribute or to-one relationship. Snapshots contain "
                + "only these; read other properties from the object.", entity: T._$entityName)
    }
}
