/// Elements at few of many indexes, in ascending order. Its cost depends on the number of elements, not on the largest index.
///
/// Two arrays: the sorted indexes, which a binary search reads, and the elements at the same positions.
@usableFromInline
package struct SparseArray<Element> {
    /// The indexes that have an element, ascending.
    @usableFromInline package internal(set) var indexes: [Int] = []
    /// The elements in the order of their indexes.
    @usableFromInline package internal(set) var elements: [Element] = []

    @inlinable
    package init() {}

    @inlinable package var isEmpty: Bool { indexes.isEmpty }

    /// The element at an index; nil if there is none.
    @inlinable
    package subscript(index: Int) -> Element? {
        let position = position(of: index)
        return isElement(position, index) ? elements[position] : nil
    }

    /// The element at an index. Reading it where there is none returns a new one; changing it there adds it.
    @inlinable
    package subscript(index: Int, default make: @autoclosure () -> Element) -> Element {
        get { self[index] ?? make() }
        _modify {
            let position = position(of: index)
            if !isElement(position, index) { insert(make(), at: index, position) }
            yield &elements[position]
        }
    }

    /// Changes the element at an index.
    /// - Returns: the result of the closure; nil if there is no element.
    @inlinable
    package mutating func update<Result>(at index: Int, _ body: (inout Element) -> Result) -> Result? {
        let position = position(of: index)
        return isElement(position, index) ? body(&elements[position]) : nil
    }

    /// Adds an element at an index that has none.
    @inlinable
    package mutating func insert(_ element: Element, at index: Int) { insert(element, at: index, position(of: index)) }

    @inlinable
    mutating func insert(_ element: Element, at index: Int, _ position: Int) {
        if position == indexes.count {
            indexes.append(index)
            elements.append(element)
        } else {
            indexes.insert(index, at: position)
            elements.insert(element, at: position)
        }
    }

    /// Returns the first position whose index is not less than `index`.
    @inlinable @inline(__always)
    func position(of index: Int) -> Int {
        var (low, high) = (0, indexes.count)
        while low < high {
            let middle = (low &+ high) / 2
            if indexes[middle] < index { low = middle &+ 1 } else { high = middle }
        }
        return low
    }

    @inlinable @inline(__always)
    func isElement(_ position: Int, _ index: Int) -> Bool { position < indexes.count && indexes[position] == index }
}

extension SparseArray: Sendable where Element: Sendable {}
