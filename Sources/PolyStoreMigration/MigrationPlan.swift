import PolyStoreBackend
import PolyStoreKernel

/// The operations of one migration step, determined before it begins.
struct MigrationPlan {
    /// The conversion of the objects of an old entity to objects of new ones.
    struct Route {
        let source: Entity
        /// The entities to which the objects are copied, with the differences of the versions.
        let matches: [EntityMatch]
        /// The closure for each object; `nil` copies the object.
        let transform: EntityMapping.Transform?
        /// A Boolean value that indicates whether the closure is not called for the objects of removed classes, which are removed.
        let skipsRemovedClasses: Bool

        func match(_ target: Int) -> EntityMatch? { matches.first { $0.target.index == target } }
    }

    /// The pairs of a link table that are added one by one.
    struct LinkFill {
        let table: LinkTable
        /// The origin of the relationship whose targets are added.
        let origin: LinkOrigin
    }

    let type: MigrationType
    let source: ResolvedSchema
    let target: ResolvedSchema
    let mapping: SchemaMapping?
    let change: SchemaChange
    /// The routes whose objects are read one by one, in execution order.
    let routes: [Route]
    /// The entities that the backend carries over.
    let carried: [EntityMatch]
    let links: [LinkFill]
    /// The ordered relationships with a to-one inverse whose positions are written one by one.
    let positions: [LinkOrigin]
    /// The origins of the targets of all relationships.
    let origins: LinkOrigins
    /// A Boolean value that indicates whether targets that do not fit are dropped and reported, instead of preventing the migration.
    let losesLinks: Bool
    /// A Boolean value that indicates whether a closure can change any object of the new version, so that the targets of required relationships and the counts of
    /// others are known at the end only.
    let writesAnyObject: Bool
    /// The new entities whose required relationships and counts are checked at the end.
    let validated: [Int]
    /// The new entities whose references are checked at the end, because their targets may be missing.
    let repairs: [Int]
    /// The old entities that no route reads.
    let removed: [Entity]
    /// A Boolean value for each entity index of the new version that indicates whether objects may be missing or have other row ids.
    let isLossy: [Bool]
    let changes: [String]
    /// The problems that prevent the migration, regardless of the contents of the store.
    let problems: [MigrationReport.Finding]

    /// A Boolean value that indicates whether no record must be read and written.
    var isCarriedWhole: Bool { routes.isEmpty && links.isEmpty && mapping?.before == nil && mapping?.after == nil }
}

/// Entities and link tables of the new version that a mapping changes although the backend carries them over.
///
/// Thrown by the step, which then begins again and rewrites them.
struct CarriedChange: Error {
    var entities: Set<Int> = []
    var tables: Set<Int> = []

    func union(_ other: CarriedChange) -> CarriedChange {
        CarriedChange(entities: entities.union(other.entities), tables: tables.union(other.tables))
    }

    /// The part of the identifier of a ``SchemaChange``; empty if nothing is rewritten.
    fileprivate var suffix: String {
        entities.isEmpty && tables.isEmpty ? "" : ":rewriting:\(entities.sorted()):\(tables.sorted())"
    }
}

/// Creates a ``MigrationPlan``.
struct MigrationPlanner {
    private let source: ResolvedSchema
    private let target: ResolvedSchema
    private let mapping: SchemaMapping?
    /// The old entities that are migrated to each target entity, by entity index.
    private let origins: [[Int]]
    private let transforms: [MappingReader.TransformPart]
    private let matches: [[Int]: EntityMatch]
    private let linkOrigins: LinkOrigins
    private let readingProblems: [MigrationReport.Finding]
    private let rewritten: CarriedChange

    /// - Throws: `invalidSchema` for a mapping that contains an unknown entity or property, or an entity twice, and for two entities or properties with one
    ///   origin.
    ///
    /// - Parameters:
    ///   - isDowngrade: Whether the target is an earlier version: entities and properties that the source has renamed get their former names back.
    ///   - rewritten: The entities and link tables that the mapping changes, so that the backend cannot carry them over.
    init(
        _ source: ResolvedSchema, _ target: ResolvedSchema, _ mapping: SchemaMapping?, isDowngrade: Bool = false,
        rewriting rewritten: CarriedChange = CarriedChange()
    ) throws {
        self.rewritten = rewritten
        self.source = source
        self.target = target
        self.mapping = mapping
        var reading = MappingReader(source, target, mapping, isDowngrade: isDowngrade)
        try reading.read()
        (origins, transforms, readingProblems) = (reading.origins, reading.transforms, reading.problems)
        let origins = origins
        var matches: [[Int]: EntityMatch] = [:]
        for (index, sources) in origins.enumerated() {
            for old in sources {
                matches[[old, index]] = try EntityMatch(
                    source.entities[old], target.entities[index], renaming: reading.renaming[[old, index]] ?? [:],
                    className: reading.classNames[[old, index]], isDowngrade: isDowngrade, corresponds: { origins[$1].contains($0) })
            }
        }
        let found = LinkOrigins(source, target, sources: origins) { matches[[$0, $1]] }
        linkOrigins = found
        self.matches = matches.mapValues { match in
            var match = match
            match.resolve(found)
            return match
        }
    }

    /// A Boolean value that indicates whether a closure can change any object. That of an update changes only the copy that it receives.
    private var writesAnyObject: Bool {
        mapping?.after != nil || transforms.contains { !$0.isUpdate }
    }

    private func isTransformed(_ old: Int, _ new: Int) -> Bool { transforms.contains { $0.source == old && $0.targets.contains(new) } }

    // MARK: Result

    /// Returns the operations of the step.
    ///
    /// - Parameter losesLinks: Whether targets that do not fit are dropped and reported, instead of preventing the migration.
    /// - Throws: `misuse` if the planner violates the requirements of ``SchemaChange``.
    func plan(from sourceVersion: String, to targetVersion: String, losesLinks: Bool) throws -> MigrationPlan {
        let (isLossy, isCarried) = decideEntities()
        var problems = readingProblems
        var changes: [String] = []
        for entity in target.entities {
            if origins[entity.index].isEmpty { changes.append("entity \(entity.name) is added") }
            for old in origins[entity.index] {
                guard let match = matches[[old, entity.index]] else { continue }
                changes += match.changes
                if !isTransformed(old, entity.index) { problems += match.problems }
            }
        }
        let reached = Set(origins.joined()).union(transforms.map(\.source))
        let removed = source.entities.filter { !reached.contains($0.index) }
        changes += removed.map { "entity \($0.name) is removed" }
        if changes.isEmpty {
            let isSame = source.description.hasSameData(as: target.description)
            changes = [isSame ? "declarations that change no stored data are replaced" : "the order of properties changes"]
        }
        changes += transforms.map { "a closure migrates \(source.entities[$0.source].name)" }
        let (links, fills) = linkSources(isLossy)
        let routes = routes(isCarried)
        let entities: [SchemaChange.EntitySource] = target.entities.map { entity in
            if isCarried[entity.index], let old = origins[entity.index].first, let match = matches[[old, entity.index]] {
                return .carried(entity: old, fields: match.carriedFields)
            }
            // The objects of the first route keep their row ids, so new objects continue that sequence.
            return .empty(rowIDsOf: routes.first { $0.match(entity.index) != nil }?.source.index)
        }
        let isHeavy = mapping != nil
        let type: MigrationType =
            isHeavy
            ? .heavyweight(sourceVersion: sourceVersion, destinationVersion: targetVersion)
            : .lightweight(sourceVersion: sourceVersion, destinationVersion: targetVersion)
        return MigrationPlan(
            type: type, source: source, target: target, mapping: mapping,
            change: try SchemaChange(
                identifier:
                    "\(isHeavy ? "mapping" : "inferred"):\(sourceVersion):\(targetVersion)\(losesLinks ? ":losing" : "")\(rewritten.suffix)",
                source: source,
                target: target,
                entities: entities,
                links: links),
            routes: routes,
            carried: target.entities.compactMap { entity in
                isCarried[entity.index] ? origins[entity.index].first.flatMap { matches[[$0, entity.index]] } : nil
            },
            links: fills, positions: positions(), origins: linkOrigins, losesLinks: losesLinks,
            writesAnyObject: writesAnyObject, validated: validated(isLossy, isCarried, fills), repairs: repairs(isLossy), removed: removed,
            isLossy: isLossy,
            changes: changes, problems: problems)
    }

    /// Determines, by target entity index, whether objects may be missing or have other row ids, and whether the backend carries the records over.
    private func decideEntities() -> (isLossy: [Bool], isCarried: [Bool]) {
        var isLossy = target.entities.map { entity in
            let old = origins[entity.index]
            return old.count > 1
                || old.contains { isTransformed($0, entity.index) || matches[[$0, entity.index]]?.removesObjects ?? false }
        }
        var isCarried = carriedEntities(isLossy)
        guard !transforms.isEmpty || mapping?.before != nil || mapping?.after != nil else { return (isLossy, isCarried) }
        // A closure can delete any object that is not carried over, so entities with references to it are not carried over either.
        while true {
            let next = isCarried.map { !$0 }
            if next == isLossy { return (isLossy, isCarried) }
            isLossy = next
            isCarried = carriedEntities(isLossy)
        }
    }

    /// Determines, by target entity index, whether the backend carries the records over.
    private func carriedEntities(_ isLossy: [Bool]) -> [Bool] {
        var used: Set<Int> = []
        return target.entities.map { entity in
            guard !isLossy[entity.index], !rewritten.entities.contains(entity.index), let old = origins[entity.index].first,
                let match = matches[[old, entity.index]], match.isCarried,
                !leadsToLossy(entity, isLossy)
            else { return false }
            return used.insert(old).inserted
        }
    }

    /// Returns whether a field of an entity refers to objects that may be missing.
    private func leadsToLossy(_ entity: Entity, _ isLossy: [Bool]) -> Bool {
        entity.relationships.contains { !$0.isToMany && isLossy[$0.destination] }
    }

    private func repairs(_ isLossy: [Bool]) -> [Int] { target.entities.filter { leadsToLossy($0, isLossy) }.map(\.index) }

    /// Returns the routes in the order of the old entities, with copies before closures, so that closures find the copied objects.
    private func routes(_ isCarried: [Bool]) -> [MigrationPlan.Route] {
        var copies: [MigrationPlan.Route] = []
        for entity in target.entities where !isCarried[entity.index] {
            for old in origins[entity.index] where !isTransformed(old, entity.index) {
                guard let match = matches[[old, entity.index]] else { continue }
                copies.append(
                    MigrationPlan.Route(source: source.entities[old], matches: [match], transform: nil, skipsRemovedClasses: false))
            }
        }
        return copies
            + transforms.map { part in
                MigrationPlan.Route(
                    source: source.entities[part.source], matches: part.targets.compactMap { matches[[part.source, $0]] },
                    transform: part.body, skipsRemovedClasses: part.skipsRemovedClasses)
            }
    }

    // MARK: Links

    private func linkSources(_ isLossy: [Bool]) -> ([SchemaChange.LinkSource], [MigrationPlan.LinkFill]) {
        var fills: [MigrationPlan.LinkFill] = []
        var used: Set<Int> = []
        let sources: [SchemaChange.LinkSource] = target.links.map { table in
            let ends = self.ends(of: table)
            if !rewritten.tables.contains(table.index), let carried = carried(table, ends, isLossy), used.insert(carried.table).inserted {
                return .carried(table: carried.table, isReversed: carried.isReversed)
            }
            fills += self.fills(table, ends)
            return .empty
        }
        return (sources, fills)
    }

    /// Returns the relationships that a link table stores, with its owner first.
    private func ends(of table: LinkTable) -> [Relationship] {
        target.entities.flatMap(\.relationships)
            .filter { if case .link(table.index, _) = $0.storage { true } else { false } }
            .sorted { !$0.isReversedLink && $1.isReversedLink }
    }

    /// Returns the old link table that has exactly the pairs and positions of a new one.
    private func carried(_ table: LinkTable, _ ends: [Relationship], _ isLossy: [Bool]) -> (table: Int, isReversed: Bool)? {
        guard !isLossy[table.source], !isLossy[table.target] else { return nil }
        var found: (table: Int, isReversed: Bool)?
        for end in ends {
            guard let old = origins[end.source].first, let origin = linkOrigins.origin(end, of: old), origin.keepsAll else { return nil }
            for part in origin.parts {
                guard case .link(let oldTable, let wasReversed) = part.relationship.storage else { return nil }
                let isReversed = wasReversed != (part.isBackward != end.isReversedLink)
                if let found, found != (oldTable, isReversed) { return nil }
                found = (oldTable, isReversed)
            }
        }
        guard let found else { return nil }
        let before = source.links[found.table]
        let orders = found.isReversed ? (before.ordersSources, before.ordersTargets) : (before.ordersTargets, before.ordersSources)
        guard orders == (table.ordersTargets, table.ordersSources), before.isSymmetric == table.isSymmetric else { return nil }
        return found
    }

    private func fills(_ table: LinkTable, _ ends: [Relationship]) -> [MigrationPlan.LinkFill] {
        // The first end has the pairs of both; only the order of the other end differs.
        ends.enumerated().filter { $0 == 0 || $1.isOrdered }.flatMap { _, end in
            origins[end.source].compactMap { old in
                guard let origin = linkOrigins.origin(end, of: old), !origin.parts.isEmpty else { return nil }
                return MigrationPlan.LinkFill(table: table, origin: origin)
            }
        }
    }

    /// Returns the origins of ordered relationships whose to-one inverse is determined for each object.
    private func positions() -> [LinkOrigin] {
        target.entities.flatMap { entity in
            entity.relationships.flatMap { relationship -> [LinkOrigin] in
                guard let position = relationship.positionField else { return [] }
                let isWritten = origins[relationship.destination].contains {
                    matches[[$0, relationship.destination]]?.fields[position] == .position
                }
                guard isWritten else { return [] }
                return origins[entity.index].compactMap { old in
                    guard let origin = linkOrigins.origin(relationship, of: old), origin.own?.isOrdered ?? false else { return nil }
                    return origin
                }
            }
        }
    }

    /// Returns the new entities whose required relationships and counts can be broken in ways that only the new store shows.
    private func validated(_ isLossy: [Bool], _ isCarried: [Bool], _ fills: [MigrationPlan.LinkFill]) -> [Int] {
        let filled = Set(fills.map(\.table.index))
        return target.entities.filter { entity in
            entity.relationships.contains { relationship in
                guard relationship.isRequired && !relationship.isToMany || relationship.minCount > 0 || relationship.maxCount != nil else {
                    return false
                }
                if writesAnyObject || !isCarried[entity.index] || isLossy[relationship.destination] { return true }
                switch relationship.storage {
                case .foreignKey: return false
                case .inverse: return !isCarried[relationship.destination]
                case .link(let table, _): return filled.contains(table)
                }
            }
        }.map(\.index)
    }
}

extension Relationship {
    /// A Boolean value that indicates whether the sources of the relationship are the targets of its link table.
    var isReversedLink: Bool {
        if case .link(_, true) = storage { true } else { false }
    }
}
