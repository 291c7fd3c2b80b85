import PolyStoreBackend

/// A transaction of a commit group whose changes are applied and that waits for the commit.
final class AppliedTransaction {
    let changes: [StoreChanges]
    let relationshipChanges: RelationshipChanges
    /// The entities of deleted objects in class hierarchies.
    let deletedKinds: [RowReference: String]
    /// The indexes of the stores whose state the transaction depends on.
    let stores: [Int]
    let origin: CommitOrigin?
    let site: CallSite
    /// Resumes the caller with the error of the commit, if any.
    let acknowledge: ((any Error)?) -> Void

    init(
        changes: [StoreChanges] = [], relationshipChanges: RelationshipChanges = RelationshipChanges(),
        deletedKinds: [RowReference: String] = [:], stores: [Int], origin: CommitOrigin? = nil, site: CallSite = .framework,
        acknowledge: @escaping ((any Error)?) -> Void
    ) {
        self.changes = changes
        self.relationshipChanges = relationshipChanges
        self.deletedKinds = deletedKinds
        self.stores = stores
        self.origin = origin
        self.site = site
        self.acknowledge = acknowledge
    }
}
