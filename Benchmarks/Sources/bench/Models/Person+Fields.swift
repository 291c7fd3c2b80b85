import PeerKit
import PolyStoreCore

extension Person: PersonFields {
    var id: Int64 { _$state.rowID }
    /// The target's id, without creating the object.
    var departmentID: Int64 { _$toOne(0).id }
}
