/// Objects at few of many indexes, in ascending order. Its cost depends on the number of objects, not on the largest index.
///
/// The object of the index that was added last is stored in place: most transactions use one entity, and an array would be an allocation. The others are in an array
/// in the order of their indexes, which is searched.
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

    /// The entry that was added last; nil if it was removed.
    @usableFromInline var newest: Entry?
    /// The other entries, in ascending order.
    @usableFromInline var others: [Entry] = []

    @inlinable
    package init() {}

    @inlinable package var isEmpty: Bool { newest == nil && others.isEmpty }

    @inlinable package var count: Int { others.count + (newest == nil ? 0 : 1) }

    /// The indexes that have an object, ascending.
    @inlinable package var indexes: [Int] { map(\.index) }

    /// The object at an index; nil if there is none.
    @inlinable
    package subscript(index: Int) -> Object? {
        @inline(__always)
        get {
            if let newest, newest.index == index { return newest.object }
            return others.isEmpty ? nil : Self.find(index, others)
        }
        set {
            if let newValue { set(newValue, at: index) } else { removeObject(at: index) }
        }
    }

    /// Returns the object of one of some entries.
    @inlinable @inline(never)
    static func find(_ index: Int, _ entries: [Entry]) -> Object? {
        // A search of few entries costs less from the first one on.
        let isShort = entries.count <= 8
        let position =
            isShort
            ? entries.firstIndex { $0.index >= index } ?? entries.count : (0..<entries.count).partition { entries[$0].index < index }
        return position < entries.count && entries[position].index == index ? entries[position].object : nil
    }

    @inlinable @inline(never)
    mutating func set(_ object: Object, at index: Int) {
        if let newest, newest.index != index {
            let position = (0..<others.count).partition { others[$0].index < index }
            if position < others.count, others[position].index == index {
                others[position] = Entry(index, object)
                return
            }
            if others.last.map({ $0.index < newest.index }) ?? true {
                others.append(newest)
            } else {
                others.insert(newest, at: (0..<others.count).partition { others[$0].index < newest.index })
            }
        } else if newest == nil {
            others.removeAll { $0.index == index }
        }
        newest = Entry(index, object)
    }

    @inlinable @inline(never)
    mutating func removeObject(at index: Int) {
        if newest?.index == index { newest = nil } else { others.removeAll { $0.index == index } }
    }
}

extension SparseArray: Sequence {
    /// Returns the entries in the order of their indexes.
    @usableFromInline
    package struct Iterator: IteratorProtocol {
        @usableFromInline var newest: Entry?
        @usableFromInline let others: [Entry]
        @usableFromInline var position = 0

        @inlinable
        init(_ entries: SparseArray) {
            newest = entries.newest
            others = entries.others
        }

        @inlinable
        package mutating func next() -> Entry? {
            if let entry = newest, position == others.count || entry.index < others[position].index {
                newest = nil
                return entry
            }
            guard position < others.count else { return nil }
            defer { position += 1 }
            return others[position]
        }
    }

    @inlinable
    package func makeIterator() -> Iterator { Iterator(self) }
}
