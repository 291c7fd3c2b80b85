import PolyStoreBackend

/// The permanent identity of one object of a store. Sendable, hashable; it survives restarts as a URI.
public struct ObjectID<T: Model>: Sendable {
    @usableFromInline let entry: StoreEntity
    /// Unique within entity and store, never reused.
    public let key: Int64

    public var entityName: String { entry.entity.name }
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
    public var description: String { "\(entry.entity.name) \(key)" }
}
