import PolyStoreBackend
import PolyStoreKernel

/// The old relationships from which the targets of a relationship of the new version come, for the objects of one old entity.
///
/// The targets are the union of what both ends of the relationship had in the old version.
struct LinkOrigin {
    /// An old relationship that contributes targets.
    struct Part {
        let relationship: Relationship
        /// A Boolean value that indicates whether the objects are the targets of the old relationship instead of its sources.
        let isBackward: Bool

        /// The index of the old entity of the objects at the other end.
        var far: Int { isBackward ? relationship.source : relationship.destination }

        /// A Boolean value that indicates whether an object has at most one object at the other end.
        func leadsToOne(_ schema: ResolvedSchema) -> Bool {
            guard isBackward else { return !relationship.isToMany }
            guard let inverse = relationship.inverse else { return false }
            return !schema.entities[relationship.destination].relationships[inverse].isToMany
        }
    }

    /// The relationship of the new version.
    let relationship: Relationship
    /// The old entity of the objects.
    let source: Entity
    /// The old relationships. That of the end itself comes first, then those of the other end.
    let parts: [Part]
    /// The kept classes of the old entity whose objects do not have the relationship in the new version.
    let excluded: Set<String>
    /// The kept classes of the old entities at the other end whose objects do not have the inverse in the new version, by entity index.
    let farExcluded: [Int: Set<String>]
    /// The classes of the old entities at the other end whose objects are removed, by entity index.
    let farRemoved: [Int: Set<String>]

    /// The old relationship that the end itself continues; `nil` for a new end.
    var own: Relationship? { parts.first.flatMap { $0.isBackward ? nil : $0.relationship } }

    /// Returns whether no object can have more than one target.
    func isSingle(_ schema: ResolvedSchema) -> Bool { parts.isEmpty || parts.count == 1 && parts[0].leadsToOne(schema) }

    /// A Boolean value that indicates whether every target of the old version is a target of the new one.
    var keepsAll: Bool { excluded.isEmpty && farExcluded.values.allSatisfy(\.isEmpty) }
}

/// The origins of all relationships of a migration.
struct LinkOrigins {
    private struct Key: Hashable {
        let target: Int
        let relationship: Int
        let source: Int
    }

    /// The known choices of the plan's readers.
    let choices = LinkChoices()
    private var origins: [Key: LinkOrigin] = [:]
    private let source: ResolvedSchema
    private let target: ResolvedSchema

    /// - Parameters:
    ///   - sources: The old entities whose objects become objects of each new entity, by entity index.
    ///   - match: Returns the match of an old and a new entity, by entity index.
    init(_ source: ResolvedSchema, _ target: ResolvedSchema, sources: [[Int]], match: (Int, Int) -> EntityMatch?) {
        self.source = source
        self.target = target
        for entity in target.entities {
            for relationship in entity.relationships {
                for old in sources[entity.index] {
                    guard let found = match(old, entity.index) else { continue }
                    origins[Key(target: entity.index, relationship: relationship.index, source: old)] = Self.origin(
                        relationship, found, source, sources, match)
                }
            }
        }
    }

    /// Returns the origin of a relationship of the new version for the objects of an old entity.
    func origin(_ relationship: Relationship, of old: Int) -> LinkOrigin? {
        origins[Key(target: relationship.source, relationship: relationship.index, source: old)]
    }

    /// Returns the origin of the inverse of a relationship, for the objects of an old entity at the other end.
    func inverseOrigin(_ relationship: Relationship, of far: Int) -> LinkOrigin? {
        guard let inverse = relationship.inverse else { return nil }
        return origins[Key(target: relationship.destination, relationship: inverse, source: far)]
    }

    /// Returns the inverse of a relationship of the new version.
    func inverse(_ relationship: Relationship) -> Relationship? {
        relationship.inverse.map { target.entities[relationship.destination].relationships[$0] }
    }

    /// Returns whether a field of the old version holds the targets of a to-one relationship, so that its values are copied.
    func isCopied(_ origin: LinkOrigin) -> Bool {
        guard origin.parts.count == 1, let own = origin.own, case .foreignKey = own.storage, origin.keepsAll else { return false }
        guard let inverse = inverse(origin.relationship), !inverse.isToMany else { return true }
        return inverseOrigin(origin.relationship, of: own.destination)?.isSingle(source) ?? true
    }

    /// Returns whether an old relationship, or its inverse, contributes to a relationship of the new version.
    func isUsed(_ relationship: Relationship) -> Bool {
        origins.values.contains { origin in
            origin.parts.contains { part in
                let used = part.relationship
                return used.source == relationship.source && used.index == relationship.index
                    || used.destination == relationship.source && used.inverse == relationship.index
            }
        }
    }

    private static func origin(
        _ relationship: Relationship, _ found: EntityMatch, _ schema: ResolvedSchema, _ sources: [[Int]],
        _ match: (Int, Int) -> EntityMatch?
    ) -> LinkOrigin {
        let old = found.source
        var parts: [LinkOrigin.Part] = []
        let own = found.relationships[relationship.index].map { old.relationships[$0] }
        if let own { parts.append(LinkOrigin.Part(relationship: own, isBackward: false)) }
        if let inverse = relationship.inverse {
            for far in sources[relationship.destination] {
                guard let back = match(far, relationship.destination)?.relationships[inverse] else { continue }
                let other = schema.entities[far].relationships[back]
                guard other.destination == old.index else { continue }
                // Two old inverses contain the same pairs.
                if let own, own.destination == far, own.inverse == back { continue }
                parts.append(LinkOrigin.Part(relationship: other, isBackward: true))
            }
        }
        var excluded = found.classes(without: relationship.index)
        if let own, parts.count == 1 { excluded.formIntersection(old.classes(with: own.index)) }
        if parts.isEmpty { excluded = [] }
        var farExcluded: [Int: Set<String>] = [:]
        var farRemoved: [Int: Set<String>] = [:]
        for part in parts {
            guard let other = match(part.far, relationship.destination) else { continue }
            let removed = Set(other.removedClasses)
            if !removed.isEmpty { farRemoved[part.far] = removed }
            guard let inverse = relationship.inverse else { continue }
            var lacking = other.classes(without: inverse)
            if part.isBackward {
                lacking.formIntersection(other.source.classes(with: part.relationship.index))
            } else if let back = part.relationship.inverse {
                lacking.formIntersection(other.source.classes(with: back))
            }
            if !lacking.isEmpty { farExcluded[part.far, default: []].formUnion(lacking) }
        }
        return LinkOrigin(
            relationship: relationship, source: old, parts: parts, excluded: excluded, farExcluded: farExcluded, farRemoved: farRemoved)
    }
}

extension Entity {
    /// Returns the names of the classes whose objects have a relationship.
    func classes(with relationship: Int) -> Set<String> { Set(classes.filter { $0.relationships.contains(relationship) }.map(\.name)) }
}
