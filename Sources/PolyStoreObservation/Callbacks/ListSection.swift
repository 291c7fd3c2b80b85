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

/// The sections of a list at one time, in order.
public struct ListSections: RandomAccessCollection, Sendable {
    private let counts: SectionCounts

    init(_ counts: SectionCounts) { self.counts = counts }

    public var startIndex: Int { 0 }
    public var endIndex: Int { counts.count }

    /// The section at an index, which must be valid.
    public subscript(index: Int) -> ListSection {
        precondition(indices.contains(index), "There is no section \(index) among \(counts.count).")
        return ListSection(name: counts.name(index), range: counts.range(index))
    }
}
