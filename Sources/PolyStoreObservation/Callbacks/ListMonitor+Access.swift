public import Foundation
import PolyStoreKernel

extension ListMonitor: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { list.count }

    /// The object at a position of the whole list. The position must be less than `count`; see `subscript(safe:)`.
    public subscript(position: Int) -> T {
        precondition(position >= 0 && position < list.count, "There is no object \(position) in a list of \(list.count).")
        return object(at: position)
    }
}

extension ListMonitor {
    /// The object at a position of the whole list; `nil` if the position is out of bounds.
    public subscript(safe position: Int) -> T? { indices.contains(position) ? object(at: position) : nil }

    /// The object at a position of a section. Both must be valid; see ``subscript(safe:_:)``.
    public subscript(section: Int, item: Int) -> T {
        precondition(
            hasObject(section, item),
            "There is no object \(item) in section \(section); the list has \(numberOfSections) sections and \(list.count) objects.")
        return object(at: list.rows.sections.start(section) + item)
    }

    /// The object at a position of a section; `nil` if either is out of bounds.
    public subscript(safe section: Int, item: Int) -> T? {
        hasObject(section, item) ? object(at: list.rows.sections.start(section) + item) : nil
    }

    /// The object at an index path of section and item, which must be valid; see ``subscript(safe:)-(IndexPath)``.
    public subscript(indexPath: IndexPath) -> T {
        precondition(indexPath.count == 2, "An index path of a list has a section and an item.")
        return self[indexPath[0], indexPath[1]]
    }

    /// The object at an index path of section and item; `nil` if it is out of bounds.
    public subscript(safe indexPath: IndexPath) -> T? { indexPath.count == 2 ? self[safe: indexPath[0], indexPath[1]] : nil }

    private func hasObject(_ section: Int, _ item: Int) -> Bool {
        section >= 0 && section < list.rows.sections.count && item >= 0 && item < list.rows.sections.rowCount(section)
    }

    /// A Boolean value that indicates whether the list contains any object. The form of CoreStore; the opposite of `isEmpty`.
    public var hasObjects: Bool { list.count > 0 }

    /// The ids of all objects, in order, without reading any.
    public var objectIDs: [ObjectID<T>] {
        list.rows.rows(0..<list.count).map { ObjectID(entry: context.entry($0.entityIndex), rowID: $0.rowID) }
    }

    /// Returns the position of an object in the whole list; `nil` if it is not in the list.
    public func index(of object: T) -> Int? {
        list.position(of: RowReference(entityIndex: object._$state.entityIndex, rowID: object._$state.rowID))
    }

    /// Returns the position of the object with an id in the whole list; `nil` if it is not in the list.
    public func index(of id: ObjectID<T>) -> Int? {
        (try? context.entry(of: id)).flatMap { list.position(of: RowReference(entityIndex: $0.entityIndex, rowID: id.rowID)) }
    }

    /// Returns the section and item of an object; `nil` if it is not in the list.
    public func indexPath(of object: T) -> IndexPath? { index(of: object).map { list.rows.sections.position($0).indexPath } }

    /// Returns the section and item of the object with an id; `nil` if it is not in the list.
    public func indexPath(of id: ObjectID<T>) -> IndexPath? { index(of: id).map { list.rows.sections.position($0).indexPath } }

    /// Returns whether an object is in the list. Uses the positions of the list instead of comparing its objects.
    public func contains(_ object: T) -> Bool { index(of: object) != nil }

    // MARK: Sections

    /// The number of sections; 1 for a list without sections. The form for the data source of a table view; the same as `sections.count`.
    public var numberOfSections: Int { list.rows.sections.count }

    /// The sections in order. A list without sections has one unnamed section.
    public var sections: ListSections {
        ListSections(list.rows.sections)
    }

    /// Returns the number of objects of a section. The index must be valid. The form for the data source of a table view; the same as
    /// `sections[section].count`.
    public func numberOfObjects(inSection section: Int) -> Int { sections[section].count }

    /// Returns the section at an index; `nil` if it is out of bounds. `sections[index]` requires a valid index.
    public func section(safe index: Int) -> ListSection? { sections.indices.contains(index) ? sections[index] : nil }

    /// Returns the objects of a section. The index must be valid. The form of CoreStore; the same as reading the positions of `sections[section].range`.
    public func objects(inSection section: Int) -> [T] { sections[section].range.map { self[$0] } }

    /// The index titles of the sections: the first characters of their names.
    public var sectionIndexTitles: [String] { sections.map(\.indexTitle) }

    /// Returns the index of the section for a title of ``sectionIndexTitles``.
    /// - Parameters:
    ///   - title: The title. If the section at the index has another title, the first section with the title is returned.
    ///   - index: The position of the title.
    public func targetSection(forIndexTitle title: String, at index: Int) -> Int? {
        if section(safe: index)?.indexTitle == title { return index }
        return sections.firstIndex { $0.indexTitle == title }
    }
}
