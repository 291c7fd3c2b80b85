import Foundation
import PolyStore

/// Attributes with equal values of different encodings, and with values that do not equal themselves.
@Model package final class Reading {
    package var tags: Set<String> = []
    package var marks: Set<Set<Int>>?
    @Attribute(.indexed) package var value: Double = 0
    @Attribute(.range(...10.0)) package var ratio: Float?
    package var taken: Date
    /// Relative to the reference date.
    @Attribute(.range(Date(timeIntervalSinceReferenceDate: 0)...)) package var due: Date = Date(timeIntervalSinceReferenceDate: 0)
}
