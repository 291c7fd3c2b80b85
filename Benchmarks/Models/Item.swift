import PolyStore

/// An indexed number and the inverses of the relationships of ``Holder``.
@Model final class Item {
    @Attribute(.indexed) var number: Int = 0
    @Relationship var holder: Holder?
    @Relationship var album: Holder?
    @Relationship var holders: Set<Holder>
}
