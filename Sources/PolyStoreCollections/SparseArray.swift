/// Objects at few of many indexes, in ascending order. Its cost depends on the number of objects, not on the largest index.
///
/// The object with the lowest index is stored in place: most transactions use one entity, and an array would be an allocation. The others are in an array, which a
/// binary search reads.
@frozen @usableFromInline
package struct SparseArray<Object: AnyObject> {
    @frozen @usableFromInline
    package struct Entry {
        @usableFromInline package let index: Int
        @usableFromInline package let object: Object

        @inlinable
        init(_ index: Int, _ object: Object) {
            self.index = index
            self.object = object
        }
    }

    /// The entry with the lowest index; nil if there are no entries.
    @usableFromInline var lowest: Entry?
    /// The other entries, in ascending order.
    @usableFromInline var others: [Entry] = []

    @inlinable
    package init() {}

    @inlinable package var isEmpty: Bool { lowest == nil }

    @inlinable package var count: Int { lowest == nil ? 0 : others.count + 1 }

    /// The indexes that have an object, ascending.
    @inlinable package var indexes: [Int] { map(\.index) }

    /// The object at an index; nil if there is none.
    @inlinable
    package subscript(index: Int) -> Object? {
        @inline(__always)
        get {
            if let lowest, lowest.index == index { return lowest.object }
            return others.isEmpty ? nil : Self.find(index, others)
        }
        set {
            if let newValue { set(newValue, at: index) } else { removeObject(at: index) }
        }
    }

    /// Returns the object of one of some entries.
    @inlinable @inline(never)
    static func find(_ index: Int, _ entries: [Entry]) -> Object? {
        let position = (0..<entries.count).partition { entries[$0].index < index }
        return position < entries.count && entries[position].index == index ? entries[position].object : nil
    }

    @inlinable @inline(never)
    mutating func set(_ object: Object, at index: Int) {
        let entry = Entry(index, object)
        guard let lowest, lowest.index != index else {
            lowest = entry
            return
        }
        if index < lowest.index {
            others.insert(lowest, at: 0)
            self.lowest = entry
            return
        }
        let position = (0..<others.count).partition { others[$0].index < index }
        if position < others.count, others[position].index == index {
            others[position] = entry
        } else {
            others.insert(entry, at: position)
        }
    }

    @inlinable @inline(never)
    mutating func removeObject(at index: Int) {
        if lowest?.index == index {
            lowest = others.isEmpty ? nil : others.removeFirst()
        } else {
            others.removeAll { $0.index == index }
        }
    }
}

extension SparseArray: Sequence {
    @usableFromInline
    package struct Iterator: IteratorProtocol {
        @usableFromInline let entries: SparseArray
        @usableFromInline var position = 0

        @inlinable
        init(_ entries: SparseArray) { self.entries = entries }

        @inlinable
        package mutating func next() -> Entry? {
            defer { position += 1 }
            if position == 0 { return entries.lowest }
            return position <= entries.others.count ? entries.others[position - 1] : nil
        }
    }

    @inlinable
    package func makeIterator() -> Iterator { Iterator(self) }
}
