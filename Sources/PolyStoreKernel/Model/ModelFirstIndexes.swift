/// The first indexes of a class's own properties in the entity of its hierarchy.
public struct ModelFirstIndexes: Sendable {
    /// The first field index, for attributes and to-one relationships.
    public let field: Int
    /// The first relationship index.
    public let relationship: Int

    /// Creates first indexes.
    @inlinable
    public init(field: Int = 0, relationship: Int = 0) {
        self.field = field
        self.relationship = relationship
    }
}
