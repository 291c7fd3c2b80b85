/// Supplies the objects of a context that reads no store; see ``KeyPathProbe``.
protocol ContextContents: AnyObject {
    /// Sets the values of a fault.
    /// - Parameter field: The accessed field; −1 if unknown.
    func fill(_ object: some Model, _ field: Int, in context: Context)
    /// Creates an object that an accessed relationship leads to.
    func makeObject<T: Model>(_ type: T.Type, _ map: IdentityMap, _ rowID: Int64) -> T
    /// Returns the members of an accessed to-many relationship.
    func members(_ key: RelationshipKey, in context: Context) -> Context.MemberSource
}
