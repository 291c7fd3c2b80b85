import PolyStore

/// The abstract root of a hierarchy: ``Human`` and ``Firm`` inherit from it, ``Worker`` inherits from ``Human``.
@Model(isAbstract: true, subentities: "Human", "Firm") package class Party {
    @Attribute(.indexed) package var name: String = ""
    /// Unique in the hierarchy.
    @Attribute(.unique) package var code: String?
    /// Without an inverse.
    @Relationship package var sponsor: Party?
    @Relationship(deleteRule: .cascade, inverse: "party") package var visits: Set<Visit>
}
