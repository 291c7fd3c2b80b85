/// An object that was changed in two places at once; see ``StoreError/conflicts``.
public struct ObjectConflict: Sendable, Hashable, CustomStringConvertible {
    public enum Kind: Sendable, Hashable {
        /// Changed here and there: the stored names of what differs from what was read here.
        case changed(keys: [String])
        /// Changed here, deleted there.
        case deleted
        /// Deleted here, changed there.
        case changedWhatIsDeleted(keys: [String])
        /// A relationship was made to lead to an object that is deleted there.
        case targetDeleted(relationship: String)
    }

    public let entity: String
    public let objectID: Int64
    public let kind: Kind

    public init(entity: String, objectID: Int64, kind: Kind) {
        self.entity = entity
        self.objectID = objectID
        self.kind = kind
    }

    public var description: String {
        switch kind {
        case .changed(let keys): "\(entity) \(objectID) was changed (\(keys.joined(separator: ", ")))"
        case .deleted: "\(entity) \(objectID) was deleted"
        case .changedWhatIsDeleted(let keys): "\(entity) \(objectID), which is deleted here, was changed (\(keys.joined(separator: ", ")))"
        case .targetDeleted(let relationship): "\(entity) \(objectID): what \(relationship) leads to was deleted"
        }
    }
}
