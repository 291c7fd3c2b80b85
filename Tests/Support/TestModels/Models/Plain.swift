import PolyStore

/// An entity with a single integer attribute.
@Model package final class Plain {
    package var number: Int = 0
}
