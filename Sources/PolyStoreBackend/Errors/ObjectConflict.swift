/// An object that two concurrent transactions modified; see ``StoreError/conflicts``.
public struct ObjectConflict: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The combination of changes that conflict.
    public enum Kind: Sendable, Hashable, Codable {
        /// Both transactions updated the object. `keys` are the stored names of the properties whose values differ from those that this transaction read.
        case changed(keys: [String])
        /// This transaction updated the object, the other one deleted it.
        case deleted
        /// This transaction deleted the object, the other one updated it.
        case changedWhatIsDeleted(keys: [String])
        /// This transaction set a relationship to an object that the other one deleted.
        case targetDeleted(relationship: String)
    }

    /// The stored name of the entity.
    public let entity: String
    /// The row id of the object.
    public let rowID: Int64
    /// The kind of conflict.
    public let kind: Kind

    /// Creates a conflict of an object.
    public init(entity: String, rowID: Int64, kind: Kind) {
        self.entity = entity
        self.rowID = rowID
        self.kind = kind
    }

    public var description: String {
        switch kind {
        case .changed(let keys): "\(entity) \(rowID) was changed (\(keys.joined(separator: ", ")))"
        case .deleted: "\(entity) \(rowID) was deleted"
        case .changedWhatIsDeleted(let keys): "\(entity) \(rowID), which is deleted here, was changed (\(keys.joined(separator: ", ")))"
        case .targetDeleted(let relationship): "\(entity) \(rowID): what \(relationship) leads to was deleted"
        }
    }
}
