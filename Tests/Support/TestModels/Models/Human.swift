import PolyStore

/// A concrete class between the root of the hierarchy and a leaf.
@Model(subentities: "Worker") package class Human: Party {
    @Attribute(.indexed) package var age: Int = 0
    @Relationship(inverse: "staff") package var employer: Firm?
}
