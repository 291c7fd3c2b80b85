import PolyStore

/// A named number: a shared counter, the row of one writer, or a sum.
@Model package final class Tally {
    @Attribute(.unique) package var name: String = ""
    @Attribute(.indexed) package var group: Int = 0
    package var value: Int = 0
}
