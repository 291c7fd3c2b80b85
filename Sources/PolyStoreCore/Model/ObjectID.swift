import PolyStoreBackend

/// The permanent identity of one object of a store. Sendable, hashable; it survives restarts as a URI.
public struct ObjectID<T: Model>: Sendable {
    @usableFromInline let entry: StoreEntity
    /// Unique within entity and store, never reused.
    public let key: Int64

    /// The entity of the object: of a class with sub-entities the name of the hierarchy, as the id does not say which of them it is.
    public var entityName: String { entry.family?.kind(T.self).flatMap { $0.isLeaf ? $0.name : nil } ?? entry.entity.name }
    /// The configuration of the object's store; nil is the default one.
    public var configuration: String? { entry.store.configurationName }

    /// `polystore://STORE/ENTITY/KEY`; see ``DataStack/objectID(_:for:)`` for the way back.
    public var uri: String {
        let name = entry.entity.name.utf8.map { byte in
            switch byte {
            case 48...57, 65...90, 97...122, 45, 46, 95, 126: String(UnicodeScalar(byte))
            default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return "polystore://\(entry.store.storeID)/\(name.joined())/\(key)"
    }
}

extension ObjectID {
    /// The id for another class of the hierarchy, above or below; nil where the classes have nothing to do with each other. Nothing is read: whether the
    /// object is of a class below is found out by who asks for it, and is then not found.
    public func cast<U: Model>(to type: U.Type) -> ObjectID<U>? {
        guard let hierarchy = T._$hierarchy, let mine = hierarchy.member(T.self), let other = hierarchy.member(type) else {
            return self as? ObjectID<U>
        }
        let isRelated = mine.index..<mine.end ~= other.index || other.index..<other.end ~= mine.index
        return isRelated ? ObjectID<U>(entry: entry, key: key) : nil
    }

    /// The id without its class: alike for all classes of a hierarchy.
    public var untyped: AnyObjectID { AnyObjectID(entry: entry, key: key) }
}

/// The name for an object's id where it stands for the object.
public typealias ObjectReference<T: Model> = ObjectID<T>

extension ObjectID: Hashable {
    public static func == (left: ObjectID, right: ObjectID) -> Bool {
        left.key == right.key
            && (left.entry === right.entry
                || left.entry.store.storeID == right.entry.store.storeID && left.entry.entity.name == right.entry.entity.name)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(key)
        hasher.combine(entry.entity.name)
    }
}

extension ObjectID: CustomStringConvertible {
    public var description: String { "\(entityName) \(key)" }
}
