/// Objects at few of many indexes, in ascending order. Its cost depends on the number of objects, not on the largest index.
///
/// The objects of the two indexes that were added last are stored in place: most transactions use one entity or two, and an array would be an allocation. The
/// others are in an array in the order of their indexes, which is searched.
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

    // The indexes are beside the objects and not in entries: comparing an index then retains no object.

    /// The index that was added last; −1 if there is none.
    @usableFromInline var newestIndex = -1
    @usableFromInline var newest: Object?
    /// The index that was added before; −1 if there is none.
    @usableFromInline var secondIndex = -1
    @usableFromInline var second: Object?
    /// The other entries, in ascending order.
    @usableFromInline var others: [Entry] = []

    @inlinable
    package init() {}

    @inlinable package var isEmpty: Bool { newestIndex < 0 }

    /// The indexes that have an object, ascending.
    @inlinable package var indexes: [Int] { map(\.index) }

    /// The object at an index from 0; nil if there is none.
    @inlinable
    package subscript(index: Int) -> Object? {
        @inline(__always)
        get {
            if index == newestIndex { return newest }
            if index == secondIndex { return second }
            return others.isEmpty ? nil : Self.find(index, others)
        }
    }

    /// Calls a function for each index and object, without the copy and the comparisons of an iteration in order.
    @inlinable @inline(__always)
    package func forEachInAnyOrder(_ body: (Int, Object) -> Void) {
        if let newest { body(newestIndex, newest) }
        if let second { body(secondIndex, second) }
        for entry in others { body(entry.index, entry.object) }
    }

    /// Returns the object of one of some entries.
    @inlinable @inline(never)
    static func find(_ index: Int, _ entries: [Entry]) -> Object? {
        // A search of few entries costs less from the first one on.
        let isShort = entries.count <= 8
        let position = isShort ? entries.firstIndex { $0.index >= index } ?? entries.count : Self.position(of: index, entries)
        return position < entries.count && entries[position].index == index ? entries[position].object : nil
    }

    /// Returns the position of the first entry whose index is not less than a given one.
    @inlinable
    static func position(of index: Int, _ entries: [Entry]) -> Int { (0..<entries.count).partition { entries[$0].index < index } }

    /// Adds an object, or replaces the one at its index.
    /// - Parameter index: at least 0.
    @inlinable @inline(never)
    package mutating func set(_ object: Object, at index: Int) {
        if newestIndex < 0 || newestIndex == index {
            (newestIndex, newest) = (index, object)
        } else if secondIndex == index {
            second = object
        } else {
            if let second {
                let position = Self.position(of: index, others)
                if position < others.count, others[position].index == index {
                    others[position] = Entry(index, object)
                    return
                }
                others.insert(Entry(secondIndex, second), at: Self.position(of: secondIndex, others))
            }
            (secondIndex, second) = (newestIndex, newest)
            (newestIndex, newest) = (index, object)
        }
    }
}

extension SparseArray: Sequence {
    /// Returns the entries in the order of their indexes.
    @usableFromInline
    package struct Iterator: IteratorProtocol {
        /// The entries that are stored in place and not yet returned, in ascending order.
        @usableFromInline var first: Entry?
        @usableFromInline var second: Entry?
        @usableFromInline let others: [Entry]
        @usableFromInline var position = 0

        @inlinable
        init(_ entries: SparseArray) {
            first = entries.newest.map { Entry(entries.newestIndex, $0) }
            second = entries.second.map { Entry(entries.secondIndex, $0) }
            if entries.second != nil, entries.secondIndex < entries.newestIndex { swap(&first, &second) }
            others = entries.others
        }

        @inlinable
        package mutating func next() -> Entry? {
            if let entry = first, position == others.count || entry.index < others[position].index {
                (first, second) = (second, nil)
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
