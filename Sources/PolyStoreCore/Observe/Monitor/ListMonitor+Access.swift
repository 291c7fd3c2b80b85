public import Foundation

extension ListMonitor: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { list.count }

    /// The object at a position of the whole list. The position must be less than ``count``; see ``subscript(safe:)``.
    public subscript(position: Int) -> T {
        precondition(position >= 0 && position < list.count, "There is no object \(position) in a list of \(list.count).")
        return object(at: position)
    }
}

extension ListMonitor {
    /// The object at a position of the whole list; nil where there is none.
    public subscript(safe position: Int) -> T? { indices.contains(position) ? object(at: position) : nil }

    /// The object at a position of a section. Both must be there; see ``subscript(safe:_:)``.
    public subscript(section: Int, item: Int) -> T {
        precondition(
            hasObject(section, item),
            "There is no object \(item) in section \(section); the list has \(numberOfSections) sections and \(list.count) objects.")
        return object(at: list.sections.start(section) + item)
    }

    /// The object at a position of a section; nil where there is none.
    public subscript(safe section: Int, item: Int) -> T? {
        hasObject(section, item) ? object(at: list.sections.start(section) + item) : nil
    }

    /// The object at an index path of section and item. It must be there; see ``subscript(safe:)-(IndexPath)``.
    public subscript(indexPath: IndexPath) -> T {
        precondition(indexPath.count == 2, "An index path of a list has a section and an item.")
        return self[indexPath[0], indexPath[1]]
    }

    /// The object at an index path of section and item; nil where there is none.
    public subscript(safe indexPath: IndexPath) -> T? { indexPath.count == 2 ? self[safe: indexPath[0], indexPath[1]] : nil }

    private func hasObject(_ section: Int, _ item: Int) -> Bool {
        section >= 0 && section < list.sections.count && item >= 0 && item < list.sections.rowCount(section)
    }

    /// A Boolean value that indicates whether the list has an object.
    public var hasObjects: Bool { list.count > 0 }

    /// The ids of all objects, in order, without reading any.
    public var objectIDs: [ObjectID<T>] { list.rows(0..<list.count).map { ObjectID(entry: context.entry($0.slot), key: $0.rowID) } }

    /// The position of an object in the whole list; nil if it is not in the list.
    public func index(of object: T) -> Int? { list.position(of: ListRow(slot: object._$state.slot, rowID: object._$state.key)) }

    /// The position of the object of an id in the whole list; nil if it is not in the list.
    public func index(of id: ObjectID<T>) -> Int? {
        (try? context.entry(of: id)).flatMap { list.position(of: ListRow(slot: $0.slot, rowID: id.key)) }
    }

    /// The section and item of an object; nil if it is not in the list.
    public func indexPath(of object: T) -> IndexPath? { index(of: object).map { list.sections.position($0).indexPath } }

    /// The section and item of the object of an id; nil if it is not in the list.
    public func indexPath(of id: ObjectID<T>) -> IndexPath? { index(of: id).map { list.sections.position($0).indexPath } }

    public func contains(_ object: T) -> Bool { index(of: object) != nil }

    // MARK: Sections

    /// The number of sections; 1 for a list without sections.
    public var numberOfSections: Int { list.sections.count }

    /// The sections in order. A list without sections has one, without a name.
    public var sections: ListSections {
        ListSections(list.sections)
    }

    /// The number of objects of a section. The section must be there.
    public func numberOfObjects(inSection section: Int) -> Int { sections[section].count }

    /// The section at an index; nil where there is none.
    public func section(safe index: Int) -> ListSection? { sections.indices.contains(index) ? sections[index] : nil }

    /// The objects of a section. The section must be there.
    public func objects(inSection section: Int) -> [T] { sections[section].range.map { self[$0] } }

    /// The first characters of the sections' names, a title for each section.
    public var sectionIndexTitles: [String] { sections.map(\.indexTitle) }

    /// The index of the section of a title of ``sectionIndexTitles``.
    /// - Parameters:
    ///   - title: the title; where it is not that of the index, the first section with the title is meant.
    ///   - index: the position of the title.
    public func targetSection(forIndexTitle title: String, at index: Int) -> Int? {
        if section(safe: index)?.indexTitle == title { return index }
        return sections.firstIndex { $0.indexTitle == title }
    }
}
