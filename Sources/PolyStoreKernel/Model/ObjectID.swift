import PolyStoreBackend

/// The permanent identity of one object of a store. Sendable and hashable; its URI persists across restarts.
public struct ObjectID<T: Model>: Sendable {
    @usableFromInline package let entry: StoreEntity
    /// The row id, unique within the entity and the store, and never reused.
    public let rowID: Int64

    @inlinable
    package init(entry: StoreEntity, rowID: Int64) {
        self.entry = entry
        self.rowID = rowID
    }

    /// The name of the object's entity; for a class with subclasses the name of the hierarchy, because the id does not contain the object's own class.
    public var entityName: String { entry.hierarchy?.entityClass(T.self).flatMap { $0.isLeaf ? $0.name : nil } ?? entry.entity.name }
    /// The configuration of the object's store; `nil` for the default configuration.
    public var configuration: String? { entry.store.configurationName }

    /// The id as a URI, `polystore://STORE/ENTITY/KEY`. ``DataStack/objectID(_:for:)`` converts it back.
    public var uri: String { entry.uri(rowID) }

    /// Creates an id from its ``uri``.
    /// - Parameters:
    ///   - uri: The URI of an object.
    ///   - stack: The stack whose stores are searched; nil is ``DataStack/default``.
    /// - Throws: `notFound` if the URI names no object of the class in a store of the stack; `misuse` without a stack.
    public init(uri: String, in stack: DataStack? = nil) throws {
        guard let stack = stack ?? DataStack.defaultIfSet else {
            throw StoreError(
                .misuse, "An object's id belongs to a stack. Pass the stack, or set DataStack.default.", entity: T._$entityName)
        }
        guard let id = stack.objectID(uri, for: T.self) else {
            throw StoreError(.notFound, "\(uri) names no object of \(T._$entityName) in a store of the stack.", entity: T._$entityName)
        }
        self = id
    }
}

extension StoreEntity {
    /// See ``ObjectID/uri``.
    func uri(_ rowID: Int64) -> String {
        let name = entity.name.utf8.map { byte in
            switch byte {
            case 48...57, 65...90, 97...122, 45, 46, 95, 126: String(UnicodeScalar(byte))
            default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return "polystore://\(store.storeID)/\(name.joined())/\(rowID)"
    }
}

extension ObjectID {
    /// Returns the id for a superclass or subclass in the hierarchy; `nil` if the classes are unrelated. Does not read the object: if its class
    /// does not match, a later fetch with the id does not find it.
    public func cast<U: Model>(to type: U.Type) -> ObjectID<U>? {
        guard let hierarchy = T._$hierarchy, let mine = hierarchy.entityClass(T.self), let other = hierarchy.entityClass(type) else {
            return self as? ObjectID<U>
        }
        let isRelated = mine.descendants.contains(other.index) || other.descendants.contains(mine.index)
        return isRelated ? ObjectID<U>(entry: entry, rowID: rowID) : nil
    }

    /// The id without its class. Equal for all classes of a hierarchy.
    public var untyped: AnyObjectID { AnyObjectID(entry: entry, rowID: rowID) }
}

/// An alternative name of ``ObjectID`` for signatures that pass an object from one context to another, where the id represents the object.
public typealias ObjectReference<T: Model> = ObjectID<T>

extension ObjectID: Hashable {
    public static func == (left: ObjectID, right: ObjectID) -> Bool {
        left.rowID == right.rowID
            && (left.entry === right.entry
                || left.entry.store.storeID == right.entry.store.storeID && left.entry.entity.name == right.entry.entity.name)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(rowID)
        hasher.combine(entry.entity.name)
    }
}

extension ObjectID: CustomStringConvertible {
    public var description: String { "\(entityName) \(rowID)" }
}
