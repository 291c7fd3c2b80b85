import PolyStoreBackend
import PolyStoreCollections

/// The objects of a context, with one object per row id, the cached members of their to-many relationships, and prefetched rows.
///
/// A structure that is stored in its context, so that finding an object needs no further pointer. What is called for each object reads the properties in the
/// context: a function of this structure would copy it, also where it is inlined.
@usableFromInline
struct ObjectGraph {
    /// The registered objects, by entity index. A map is created when the context uses the entity for the first time.
    @usableFromInline var maps = SparseArray<IdentityMap>()
    /// The maps of substitutes for missing objects, by entity index.
    private var substitutes: [Int32: IdentityMap] = [:]
    /// The cached members of to-many relationships.
    @usableFromInline var memberLists = MemberLists()
    /// The prefetched rows; nil if there are none. Retaining objects instead would create a reference cycle with the context.
    @usableFromInline var rowsAhead: FetchedRows?
    /// A Boolean value that indicates whether the context lives as long as any of its objects.
    private let isKeptByObjects: Bool

    /// - Parameter isKeptByObjects: Whether the context lives as long as any of its objects.
    init(isKeptByObjects: Bool) { self.isKeptByObjects = isKeptByObjects }

    /// Adds the map of an entity that has none.
    mutating func addMap(_ entityIndex: Int32, in context: Context) -> IdentityMap {
        let map = newMap(entityIndex, isPolymorphic: context.entry(entityIndex).isPolymorphic, context)
        maps.set(map, at: Int(entityIndex))
        return map
    }

    private func newMap(_ entityIndex: Int32, isPolymorphic: Bool, _ context: Context) -> IdentityMap {
        IdentityMap(context, entityIndex: entityIndex, isPolymorphic: isPolymorphic, keepsContext: isKeptByObjects)
    }

    /// Returns the map of substitutes of an entity. It is separate from the registered objects, so that a substitute does not conflict with them.
    mutating func substitutes(of entityIndex: Int32, in context: Context) -> IdentityMap {
        if let map = substitutes[entityIndex] { return map }
        let map = newMap(entityIndex, isPolymorphic: true, context)
        substitutes[entityIndex] = map
        return map
    }

    /// Returns whether an object belongs to the graph.
    func owns(_ object: any Model) -> Bool {
        let map = object._$state.unretainedMap.toOpaque()
        let entityIndex = object._$state.entityIndex
        if let registered = maps[Int(entityIndex)], Unmanaged.passUnretained(registered).toOpaque() == map { return true }
        return substitutes[entityIndex].map { Unmanaged.passUnretained($0).toOpaque() == map } ?? false
    }

    /// Removes all member lists.
    /// - Parameter unsettledEntity: The entity of the members of the unsettled list, if there is one.
    /// - Returns: the removed lists. The caller releases them when the graph is consistent again, because that can release objects.
    mutating func forgetAllMembers(unsettledEntity: Int32?) -> MemberLists {
        if let unsettledEntity { maps[Int(unsettledEntity)]?.isUnsettled = false }
        defer { memberLists = MemberLists() }
        return memberLists
    }

    // MARK: Release

    /// All maps, including those of substitutes.
    var allMaps: [IdentityMap] { maps.map(\.object) + substitutes.values }

    /// Returns a graph of the same objects without cached members and prefetched rows.
    func objectsOnly() -> ObjectGraph {
        var graph = ObjectGraph(isKeptByObjects: true)
        (graph.maps, graph.substitutes) = (maps, substitutes)
        return graph
    }
}
