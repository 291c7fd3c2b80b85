import PolyStoreBackend
import PolyStoreKernel

/// The values that the snapshots of a list contain.
///
///     stack.snapshots(of: From<Person>(), content: .attributes(\.name, \.age))
public struct SnapshotContent<T: Model>: Sendable {
    /// The field indexes; `nil` for all fields of the class.
    let fields: FieldMask?
    /// The reason why the content is invalid; thrown by the function that receives it.
    let error: StoreError?

    private init(_ fields: FieldMask?, error: StoreError? = nil) {
        self.fields = fields
        self.error = error
    }

    /// Every attribute and to-one relationship.
    public static var all: SnapshotContent { SnapshotContent(nil) }

    /// The ids only. No other values are read or kept.
    public static var ids: SnapshotContent { SnapshotContent(FieldMask()) }

    /// The given attributes and to-one relationships. For any other path, the function that receives the content throws `invalidPredicate`.
    public static func attributes(_ paths: PartialKeyPath<T>...) -> SnapshotContent {
        var mask = FieldMask()
        for path in paths {
            guard let field = T._$properties.knownField(path) else { return SnapshotContent(mask, error: unknown(path)) }
            mask.insert(field.index)
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
