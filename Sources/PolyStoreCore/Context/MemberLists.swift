/// The cached row ids of the members of to-many relationships, and the collections that are mutated in place.
///
/// Removed collections are returned to the caller: releasing a collection can release its objects, whose deinits access this structure.
@usableFromInline
struct MemberLists {
    private var lists: [MemberKey: MemberList] = [:]
    /// The collections; their relationships also have a list.
    private(set) var collections: [MemberKey: MemberCollection] = [:]

    @usableFromInline
    init() {}

    var isEmpty: Bool { lists.isEmpty }

    func contains(_ key: MemberKey) -> Bool { lists.index(forKey: key) != nil }

    /// Returns the row ids of the members of a relationship, or nil if they are not cached.
    mutating func keys(_ key: MemberKey) -> [Int64]? {
        guard let index = lists.index(forKey: key) else { return nil }
        return lists.values[index].keys
    }

    func count(_ key: MemberKey) -> Int? { lists[key]?.count }

    mutating func has(_ key: MemberKey, _ target: Int64) -> Bool {
        guard let index = lists.index(forKey: key) else { return false }
        return lists.values[index].contains(target)
    }

    /// Caches the row ids of the members of a relationship, and returns its collection, which is then outdated.
    mutating func set(_ key: MemberKey, _ keys: [Int64]) -> MemberCollection? {
        lists[key] = MemberList(keys)
        return collections.isEmpty ? nil : collections.removeValue(forKey: key)
    }

    mutating func forget(_ key: MemberKey) -> MemberCollection? {
        lists[key] = nil
        return collections.isEmpty ? nil : collections.removeValue(forKey: key)
    }

    mutating func edit<R>(_ key: MemberKey, _ body: (inout MemberList) -> R) -> R? {
        guard let index = lists.index(forKey: key) else { return nil }
        return body(&lists.values[index])
    }

    // MARK: Collections

    func collection(_ key: MemberKey) -> MemberCollection? { collections.isEmpty ? nil : collections[key] }

    mutating func hold(_ collection: MemberCollection, _ key: MemberKey) { collections[key] = collection }

    mutating func drop(_ key: MemberKey) -> MemberCollection? { collections.removeValue(forKey: key) }

    mutating func dropAll() -> [MemberKey: MemberCollection] {
        let all = collections
        collections = [:]
        return all
    }
}
