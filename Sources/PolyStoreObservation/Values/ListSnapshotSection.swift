import PolyStoreKernel

/// A section of a ``ListSnapshot``: a name and the objects of the section, in order. The first index is 0.
public struct ListSnapshotSection<T: Model>: Sendable, Identifiable {
    let contents: ListContents
    let section: Int

    /// The name, unique within the list; empty for the only section of a list without sections.
    public var name: String { contents.sections[section].name }

    /// The name.
    public var id: String { name }

    /// The indexes of the objects in the list.
    public var range: Range<Int> { contents.sections[section].range }

    /// The ids of the objects, in order. Takes O(n) time.
    public var objectIDs: [ObjectID<T>] { map(\.id) }
}

extension ListSnapshotSection: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { range.count }

    public subscript(position: Int) -> ObjectSnapshot<T> {
        precondition(indices.contains(position), "Item \(position) is out of bounds: section \(name) has \(count) objects.")
        return ListSnapshot(contents)[range.lowerBound + position]
    }
}
