import PeerKit
import PolyStoreCore

extension Person: PersonFields {
    var id: Int64 { _$state.rowID }
    /// The target's id, without creating the object.
    var departmentID: Int64 { _$toOne(0).rowID }
}

/// The checksum of PeerKit for this class, with the same operations. The optimizer does not reliably inline the witnesses of a class into the generic
/// function; as calls, they would count as the cost of a fetch.
@inline(__always)
func quickHash(_ p: Person) -> UInt64 {
    var q = UInt64(bitPattern: p.id)
    q &+= UInt64(p.name.utf8.count) &+ UInt64(p.email.utf8.count) &+ UInt64(p.notes.utf8.count)
    q &+= UInt64(p.age) &+ UInt64(p.score) &+ (p.isActive ? 1 : 0)
    q &+= UInt64(p.createdAt.timeIntervalSinceReferenceDate) &+ UInt64(p.departmentID)
    q &+= UInt64(p.name.utf8.first!) &+ UInt64(p.email.utf8.first!) &+ UInt64(p.notes.utf8.first!)
    return q
}
