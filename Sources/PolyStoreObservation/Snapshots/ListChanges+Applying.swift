import PolyStoreKernel

extension ListChanges {
    /// Returns the list after the change.
    /// - Returns: `nil` if the change does not apply to this list.
    public func applied(to old: ListSnapshot<T>) -> ListSnapshot<T>? {
        old.contents.applying(delta, shape: new.shape) { _, position, _ in
            new.index(position).map { new.rows[$0].record } ?? []
        }.map(ListSnapshot.init)
    }

    /// Applies the change to a list that the program maintains.
    /// - Parameters:
    ///   - sections: The elements of each section; one array for a list without sections.
    ///   - element: Returns the element of an inserted or updated object. For an updated object it receives the old element.
    /// - Precondition: The list is in the state before the change.
    public func apply<Element>(to sections: inout [[Element]], element: (ObjectID<T>, Element?) throws -> Element) rethrows {
        var arriving: [(position: Position, element: Element)] = []
        for move in moved {
            let old = sections[move.from.section][move.from.item]
            arriving.append((move.to, move.isUpdated ? try element(move.id, old) : old))
        }
        for change in inserted { arriving.append((change.position, try element(change.id, nil))) }
        for position in (deleted.map(\.position) + moved.map(\.from)).sorted().reversed() {
            sections[position.section].remove(at: position.item)
        }
        for section in deletedSections.reversed() { sections.remove(at: section.index) }
        for section in insertedSections { sections.insert([], at: section.index) }
        for (position, element) in arriving.sorted(by: { $0.position < $1.position }) {
            sections[position.section].insert(element, at: position.item)
        }
        for change in updated {
            let old = sections[change.position.section][change.position.item]
            sections[change.position.section][change.position.item] = try element(change.id, old)
        }
    }

    /// The change of a list without sections as the standard library's type; `nil` for a list with sections. Moves are associated removals and insertions.
    /// Updates are omitted because the type compares ids.
    public var difference: CollectionDifference<ObjectID<T>>? {
        guard !new.isSectioned else { return nil }
        var changes: [CollectionDifference<ObjectID<T>>.Change] = []
        for change in deleted { changes.append(.remove(offset: change.position.item, element: change.id, associatedWith: nil)) }
        for change in inserted { changes.append(.insert(offset: change.position.item, element: change.id, associatedWith: nil)) }
        for move in moved {
            changes.append(.remove(offset: move.from.item, element: move.id, associatedWith: move.to.item))
            changes.append(.insert(offset: move.to.item, element: move.id, associatedWith: move.from.item))
        }
        return CollectionDifference(changes)
    }
}

extension ListSnapshot {
    /// Returns the change from an earlier snapshot of the list to this one. Objects with different values are updated. Takes O(n log n) time.
    public func changes(from old: ListSnapshot<T>) -> ListChanges<T> {
        ListChanges(delta: contents.delta(from: old.contents), new: contents)
    }
}
