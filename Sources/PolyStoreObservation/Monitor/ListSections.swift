import PolyStoreKernel

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
