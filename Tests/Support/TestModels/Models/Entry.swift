import PolyStore

/// A record of one operation.
@Model package final class Entry {
    @Attribute(.unique) package var operation: Int = 0
    package var delta: Int = 0
}
