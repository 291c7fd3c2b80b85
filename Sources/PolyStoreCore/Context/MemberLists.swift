/// What a context knows of to-many relationships: the ids that they lead to, where somebody asked, and the collections that are changed in place.
///
/// Whatever is taken out is given to the caller: letting go of a collection can let go of its objects, and these come back to this structure.
@usableFromInline
struct MemberLists {
    private var lists: [MemberKey: MemberList] = [:]
    /// Only of relationships that have a list.
    private(set) var collections: [MemberKey: MemberCollection] = [:]

    @usableFromInline
    init() {}

    var isEmpty: Bool { lists.isEmpty }

    func contains(_ key: MemberKey) -> Bool { lists.index(forKey: key) != nil }

    /// The ids that a relationship leads to; nil where nobody has asked.
    mutating func keys(_ key: MemberKey) -> [Int64]? {
        guard let index = lists.index(forKey: key) else { return nil }
        return lists.values[index].keys
    }

    func count(_ key: MemberKey) -> Int? { lists[key]?.count }

    mutating func has(_ key: MemberKey, _ target: Int64) -> Bool {
        guard let index = lists.index(forKey: key) else { return false }
        return lists.values[index].contains(target)
    }

    /// Remembers the ids that a relationship leads to. A collection of it is out of date with that.
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
