import PolyStoreBackend

/// The operations of one migration step, determined before it begins.
struct MigrationPlan {
    /// The conversion of the objects of an old entity to objects of new ones.
    struct Route {
        let source: Entity
        /// The entities to which the objects are copied, with the differences of the versions.
        let matches: [EntityMatch]
        /// The closure for each object; `nil` copies the object.
        let transform: EntityMapping.Transform?

        func match(_ target: Int) -> EntityMatch? { matches.first { $0.target.index == target } }
    }

    /// The pairs of a link table that are added one by one.
    struct LinkFill {
        let table: LinkTable
        /// The relationship of the new version whose targets are added.
        let relationship: Relationship
        let source: Entity
        let oldRelationship: Relationship
        /// A Boolean value that indicates whether the pairs exist already and only their positions are set.
        let setsPositionsOnly: Bool
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

/// Creates a ``MigrationPlan``.
struct MigrationPlanner {
    private let source: ResolvedSchema
    private let target: ResolvedSchema
    private let mapping: SchemaMapping?
    /// The old entities that are migrated to each target entity, by entity index.
    private var origins: [[Int]]
    private var transforms: [(source: Int, targets: [Int], body: EntityMapping.Transform)] = []
    private var renaming: [[Int]: [String: String]] = [:]
    private var matches: [[Int]: EntityMatch] = [:]
    /// A Boolean value that indicates whether the names of the old version that were renamed in it lead back.
    private let isDowngrade: Bool

    /// - Parameter isDowngrade: Whether the target is an earlier version: entities and properties that the source has renamed get their former names back.
    /// - Throws: `invalidSchema` for a mapping that contains an unknown entity, or an entity twice.
    init(_ source: ResolvedSchema, _ target: ResolvedSchema, _ mapping: SchemaMapping?, isDowngrade: Bool = false) throws {
        self.isDowngrade = isDowngrade
        self.source = source
        self.target = target
        self.mapping = mapping
        origins = Array(repeating: [], count: target.entities.count)
        try readMapping()
        for (index, sources) in origins.enumerated() {
            for old in sources { match(old, index) }
        }
    }

    private mutating func readMapping() throws {
        var claimed: Set<Int> = []
        var addressed: Set<Int> = []
        for part in mapping?.entities ?? [] {
            switch part.kind {
            case .copy(let from, let to, let names):
                let (old, new) = (try sourceEntity(from), try targetEntity(to))
                claimed.insert(old)
                addressed.insert(new)
                origins[new].append(old)
                renaming[[old, new]] = names
            case .transform(let from, let to, let body):
                let (old, new) = (try sourceEntity(from), try to.map(targetEntity))
                guard !transforms.contains(where: { $0.source == old }) else {
                    throw invalid("\(from) is transformed twice; do both in one closure")
                }
                claimed.insert(old)
                addressed.formUnion(new)
                for new in new { origins[new].append(old) }
                transforms.append((old, new, body))
            case .empty(let to): addressed.insert(try targetEntity(to))
            case .delete(let from): claimed.insert(try sourceEntity(from))
            }
        }
        for entity in target.entities where !addressed.contains(entity.index) {
            let same = source.entity(named: entity.name).flatMap { claimed.contains($0.index) ? nil : $0 }
            let renamed = entity.description.originalName.flatMap { source.entity(named: $0) }
                .flatMap { claimed.contains($0.index) || target.entity(named: $0.name) != nil ? nil : $0 }
            let former = isDowngrade ? source.entities.first { $0.description.originalName == entity.name } : nil
            if let old = same ?? renamed ?? former.flatMap({ target.entity(named: $0.name) == nil ? $0 : nil }) {
                origins[entity.index].append(old.index)
            }
        }
    }

    /// Returns the properties that the old version has renamed and that have their former names in the new one.
    private func formerNames(_ old: Entity, _ new: Entity) -> [String: String] {
        let names = Set(new.description.properties.map(\.name))
        let renamed = old.description.properties.compactMap { property -> (String, String)? in
            guard let former = property.originalName, names.contains(former), !names.contains(property.name),
                !old.description.properties.contains(where: { $0.name == former })
            else { return nil }
            return (property.name, former)
        }
        return Dictionary(renamed, uniquingKeysWith: { first, _ in first })
    }

    private func sourceEntity(_ name: String) throws -> Int {
        if let entity = source.entity(named: name) { return entity.index }
        throw invalid("there is no entity \(name) in the old version, which has \(source.entities.map(\.name).joined(separator: ", "))")
    }

    private func targetEntity(_ name: String) throws -> Int {
        if let entity = target.entity(named: name) { return entity.index }
        throw invalid("there is no entity \(name) in the new version, which has \(target.entities.map(\.name).joined(separator: ", "))")
    }

    private func invalid(_ reason: String) -> StoreError {
        StoreError(
            .invalidSchema, "The mapping from \"\(mapping?.source ?? "")\" to \"\(mapping?.destination ?? "")\" cannot be used: \(reason).")
    }

    private mutating func match(_ old: Int, _ new: Int) {
        let origins = origins
        matches[[old, new]] = EntityMatch(
            source.entities[old], target.entities[new],
            renaming: renaming[[old, new]] ?? (isDowngrade ? formerNames(source.entities[old], target.entities[new]) : [:]),
            corresponds: { origins[$1].contains($0) })
    }

    private func isTransformed(_ old: Int, _ new: Int) -> Bool { transforms.contains { $0.source == old && $0.targets.contains(new) } }

    // MARK: Result

    /// Returns the operations of the step.
    ///
    /// - Throws: `misuse` if the planner violates the requirements of ``SchemaChange``.
    func plan(from sourceVersion: String, to targetVersion: String) throws -> MigrationPlan {
        let (isLossy, isCarried) = decideEntities()
        var problems: [MigrationReport.Finding] = []
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
        if changes.isEmpty { changes = ["the order of properties changes"] }
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
                identifier: "\(isHeavy ? "mapping" : "inferred"):\(sourceVersion):\(targetVersion)", source: source, target: target,
                entities: entities,
                links: links),
            routes: routes,
            carried: target.entities.compactMap { entity in
                isCarried[entity.index] ? origins[entity.index].first.flatMap { matches[[$0, entity.index]] } : nil
            },
            links: fills, repairs: repairs(isLossy), removed: removed, isLossy: isLossy, changes: changes, problems: problems)
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
            guard !isLossy[entity.index], let old = origins[entity.index].first, let match = matches[[old, entity.index]], match.isCarried,
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
                copies.append(MigrationPlan.Route(source: source.entities[old], matches: [match], transform: nil))
            }
        }
        return copies
            + transforms.map { part in
                MigrationPlan.Route(
                    source: source.entities[part.source], matches: part.targets.compactMap { matches[[part.source, $0]] },
                    transform: part.body)
            }
    }

    // MARK: Links

    private func linkSources(_ isLossy: [Bool]) -> ([SchemaChange.LinkSource], [MigrationPlan.LinkFill]) {
        var fills: [MigrationPlan.LinkFill] = []
        var used: Set<Int> = []
        let sources: [SchemaChange.LinkSource] = target.links.map { table in
            let ends = self.ends(of: table)
            if let carried = carried(table, ends, isLossy), used.insert(carried.table).inserted {
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

    private func carried(_ table: LinkTable, _ ends: [Relationship], _ isLossy: [Bool]) -> (table: Int, isReversed: Bool)? {
        guard !isLossy[table.source], !isLossy[table.target] else { return nil }
        for end in ends {
            guard let old = origins[end.source].first, let match = matches[[old, end.source]],
                let relationshipIndex = match.relationships[end.index],
                case .link(let oldTable, let wasReversed) = source.entities[old].relationships[relationshipIndex].storage
            else { continue }
            let isReversed = wasReversed != end.isReversedLink
            let before = source.links[oldTable]
            let orders = isReversed ? (before.ordersSources, before.ordersTargets) : (before.ordersTargets, before.ordersSources)
            guard orders == (table.ordersTargets, table.ordersSources), before.isSymmetric == table.isSymmetric else { return nil }
            return (oldTable, isReversed)
        }
        return nil
    }

    private func fills(_ table: LinkTable, _ ends: [Relationship]) -> [MigrationPlan.LinkFill] {
        var found: [MigrationPlan.LinkFill] = []
        for end in ends {
            let isFirst = found.isEmpty
            // The other end has the same pairs; only its order differs.
            guard isFirst || end.isOrdered else { continue }
            for old in origins[end.source] {
                guard let match = matches[[old, end.source]], let relationshipIndex = match.relationships[end.index] else { continue }
                found.append(
                    MigrationPlan.LinkFill(
                        table: table, relationship: end, source: source.entities[old],
                        oldRelationship: source.entities[old].relationships[relationshipIndex], setsPositionsOnly: !isFirst))
            }
        }
        return found
    }
}

extension Relationship {
    /// A Boolean value that indicates whether the sources of the relationship are the targets of its link table.
    var isReversedLink: Bool {
        if case .link(_, true) = storage { true } else { false }
    }
}
