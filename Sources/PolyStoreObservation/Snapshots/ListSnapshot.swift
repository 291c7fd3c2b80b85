public import Foundation
import PolyStoreBackend
import PolyStoreKernel

/// The objects of a list at one time, in order, with their values. A Sendable value that remains valid after the context and the stack are released.
///
/// It is a collection of ``ObjectSnapshot``s. The objects of a list with sections are ordered by section:
///
///     snapshot[0].name
///     snapshot[0, 3]                                  // section 0, item 3
///     for section in snapshot.sections { print(section.name, section.count) }
///     snapshot.objectIDs                              // for a diffable data source
///
/// An index out of bounds stops the program, as with an array. The subscripts with the label `safe` return nil instead.
///
/// Two snapshots are equal if they contain the same objects in the same order and sections, with the same values.
public struct ListSnapshot<T: Model>: Sendable {
    let contents: ListContents

    init(_ contents: ListContents) { self.contents = contents }

    /// The ids of the objects, in order. Takes O(n) time.
    public var objectIDs: [ObjectID<T>] { contents.rows.map { ObjectID(entry: contents.shape.entry($0.row), rowID: $0.row.rowID) } }

    /// A Boolean value that indicates whether the list has sections.
    public var isSectioned: Bool { contents.isSectioned }

    /// The sections, in order. A list without sections has one unnamed section.
    public var sections: [ListSnapshotSection<T>] { contents.sections.indices.map { ListSnapshotSection(contents: contents, section: $0) } }

    /// Returns the index of an object; `nil` if it is not in the list. The first call takes O(n) time, later calls take constant time.
    public func index(of id: ObjectID<T>) -> Int? { contents.shape.row(of: id).flatMap(contents.index) }

    /// Returns the section and item of an object as an index path; `nil` if it is not in the list.
    public func indexPath(of id: ObjectID<T>) -> IndexPath? {
        index(of: id).map { index in
            let position = contents.position(index)
            return [position.section, position.item]
        }
    }

    /// The values of an object; `nil` if it is not in the list.
    public subscript(id: ObjectID<T>) -> ObjectSnapshot<T>? { index(of: id).map { self[$0] } }

    /// The object at an item of a section.
    public subscript(section: Int, item: Int) -> ObjectSnapshot<T> { sections[section][item] }

    /// The object at an index path of section and item.
    public subscript(indexPath: IndexPath) -> ObjectSnapshot<T> { self[indexPath[0], indexPath[1]] }

    /// The object at an index; `nil` if the index is out of bounds.
    public subscript(safe index: Int) -> ObjectSnapshot<T>? { indices.contains(index) ? self[index] : nil }

    /// The object at an item of a section; `nil` if either is out of bounds.
    public subscript(safe section: Int, item: Int) -> ObjectSnapshot<T>? {
        contents.index(ListPosition(section: section, item: item)).map { self[$0] }
    }

    /// The object at an index path of section and item; `nil` if either is out of bounds.
    public subscript(safe indexPath: IndexPath) -> ObjectSnapshot<T>? {
        indexPath.count == 2 ? self[safe: indexPath[0], indexPath[1]] : nil
    }
}

extension ListSnapshot: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { contents.rows.count }

    public subscript(position: Int) -> ObjectSnapshot<T> {
        let row = contents.rows[position]
        return ObjectSnapshot(shape: contents.shape, row: row.row, record: row.record)
    }
}

extension ListSnapshot: Hashable {
    public static func == (left: ListSnapshot, right: ListSnapshot) -> Bool { left.contents == right.contents }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(contents.sections)
        for row in contents.rows { hasher.combine(row.row) }
    }
}

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
