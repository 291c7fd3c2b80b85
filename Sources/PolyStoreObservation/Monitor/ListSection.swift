import Foundation
import PolyStoreKernel

/// A section of a list.
public struct ListSection: Sendable, Hashable {
    /// The name that ``SectionBy`` yields for the objects of the section.
    public let name: String
    /// The positions of the section's objects in the whole list.
    public let range: Range<Int>
    /// The number of objects.
    public var count: Int { range.count }
    /// The first character of the name in uppercase; empty for an empty name.
    public var indexTitle: String { name.first.map { $0.uppercased() } ?? "" }

    init(name: String, range: Range<Int>) {
        self.name = name
        self.range = range
    }
}
