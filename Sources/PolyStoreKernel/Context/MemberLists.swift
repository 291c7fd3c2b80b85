import PolyStoreCollections

/// The cached row ids of the members of to-many relationships, and the collections that are mutated in place.
///
/// Removed collections are returned to the caller: releasing a collection can release its objects, whose deinits access this structure.
@usableFromInline
struct MemberLists {
    private var lists: [RelationshipKey: OrderedRowIDs] = [:]
    /// The collections; their relationships also have a list.
    private(set) var collections: [RelationshipKey: MemberCollection] = [:]
    /// The relationship whose collection may contain changes that were not applied to the inverse relationships.
    var unsettled: RelationshipKey?
    /// The number of steps that have ended since the unsettled collection was compared.
    var unsettledSteps = 0
    /// How the members of each relationship are read from a store that waits for a server. The keys have no row id.
    var windows: [RelationshipKey: AheadWindow] = [:]
    /// The row ids of the last fetch of ids, by entity index, from stores that wait for a server.
    var fetchedRowIDs: [Int32: ArraySlice<Int64>] = [:]
    /// The number of members that were compared because a list was changed in place.
    var comparedCount = 0

    @usableFromInline
    init() {}

    var isEmpty: Bool { lists.isEmpty }

    func contains(_ key: RelationshipKey) -> Bool { lists.index(forKey: key) != nil }

    /// Returns the row ids of the members of a relationship, or nil if they are not cached.
    mutating func rowIDs(_ key: RelationshipKey) -> [Int64]? {
        guard let index = lists.index(forKey: key) else { return nil }
        return lists.values[index].rowIDs
    }

    func count(_ key: RelationshipKey) -> Int? { lists[key]?.count }

    /// Returns the number of lists to read with the list of a relationship.
    /// - Parameter loop: The key of ``windows``.
    mutating func listsToRead(with key: RelationshipKey, _ loop: RelationshipKey) -> Int {
        var window = windows[loop, default: AheadWindow()]
        defer { windows[loop] = window }
        return window.lists(with: key.rowID) {
            count(RelationshipKey(entityIndex: key.entityIndex, relationship: key.relationship, rowID: $0))
        }
    }

    mutating func has(_ key: RelationshipKey, _ target: Int64) -> Bool {
        guard let index = lists.index(forKey: key) else { return false }
        return lists.values[index].contains(target)
    }

    /// Caches the row ids of the members of a relationship, and returns its collection, which is then outdated.
    mutating func set(_ key: RelationshipKey, _ rowIDs: [Int64]) -> MemberCollection? {
        lists[key] = OrderedRowIDs(distinct: rowIDs)
        return collections.isEmpty ? nil : collections.removeValue(forKey: key)
    }

    mutating func forget(_ key: RelationshipKey) -> MemberCollection? {
        lists[key] = nil
        return collections.isEmpty ? nil : collections.removeValue(forKey: key)
    }

    mutating func edit<R>(_ key: RelationshipKey, _ body: (inout OrderedRowIDs) -> R) -> R? {
        guard let index = lists.index(forKey: key) else { return nil }
        return body(&lists.values[index])
    }

    // MARK: Collections

    func collection(_ key: RelationshipKey) -> MemberCollection? { collections.isEmpty ? nil : collections[key] }

    mutating func hold(_ collection: MemberCollection, _ key: RelationshipKey) { collections[key] = collection }

    mutating func drop(_ key: RelationshipKey) -> MemberCollection? { collections.removeValue(forKey: key) }

    mutating func dropAll() -> [RelationshipKey: MemberCollection] {
        let all = collections
        collections = [:]
        return all
    }
}
