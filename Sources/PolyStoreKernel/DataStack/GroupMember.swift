import PolyStoreBackend
import PolyStoreRuns

/// A transaction whose body has ended and that waits for its commit in a commit group.
final class GroupMember {
    let changes: [StoreChanges]
    /// The requested durability; nil for that of the store.
    let durability: Durability?
    let relationshipChanges: RelationshipChanges
    /// The entities of deleted objects in class hierarchies.
    let deletedKinds: [RowReference: String]
    /// The indexes of the stores whose state the transaction depends on.
    let stores: [Int]
    /// A Boolean value that indicates whether the transaction only waits for its predecessors and does not fail if they fail.
    let isIndependent: Bool
    let origin: CommitOrigin?
    let site: CallSite
    /// The outcome if the commit succeeds.
    private let outcome: TransactionOutcome
    /// The error with which a store refused the changes after the body had ended.
    var refusal: (any Error)?
    /// Receives the outcome after the commit.
    let receiver: any OutcomeReceiver

    init(
        changes: [StoreChanges] = [], durability: Durability? = nil, relationshipChanges: RelationshipChanges = RelationshipChanges(),
        deletedKinds: [RowReference: String] = [:], stores: [Int], isIndependent: Bool = false, origin: CommitOrigin? = nil,
        site: CallSite = .framework, _ outcome: TransactionOutcome, _ receiver: any OutcomeReceiver
    ) {
        self.changes = changes
        self.durability = durability
        self.relationshipChanges = relationshipChanges
        self.deletedKinds = deletedKinds
        self.stores = stores
        self.isIndependent = isIndependent
        self.origin = origin
        self.site = site
        self.outcome = outcome
        self.receiver = receiver
    }

    /// Returns the outcome for the receiver.
    /// - Parameter failure: The error of the commit; nil if it succeeded. It does not replace an error of the transaction itself.
    func outcome(after failure: (any Error)?) -> TransactionOutcome {
        if let failure = refusal ?? failure, !isIndependent, outcome.error == nil { .failed(failure) } else { outcome }
    }
}
