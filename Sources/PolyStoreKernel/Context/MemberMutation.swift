/// A collection that is lent for mutation.
public struct MemberMutation<C> {
    /// The members. This is their only reference, so mutating them does not copy.
    public var members: C
    /// The origin of the members; nil if they are a copy.
    var collection: MemberCollection?
    /// The address of the elements when they were lent. It changes if the collection is replaced or grows.
    var address: UInt = 0
    /// The storage at that address. The reference does not make the storage shared, and prevents that another one is allocated at the address.
    unowned var storage: AnyObject?
    /// The index of the first recorded hash that belongs to this mutation.
    var firstRecord = 0

    init(_ members: C) { self.members = members }
}
